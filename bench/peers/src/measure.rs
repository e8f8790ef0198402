//! Time a call, in processor time of the thread: the lower quartile of many parts, as in bench/table/bench.c.

const PART: usize = 8192;
const PARTS: usize = 800;

fn now_ns() -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    extern "C" {
        fn clock_gettime(id: i32, out: *mut Timespec) -> i32;
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut t = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.seconds as f64 * 1e9 + t.nanoseconds as f64
}

/// Where thread `number` of `threads` begins in the keys.
pub fn start(texts: &[String], number: usize, threads: usize) -> usize {
    texts.len() / threads * number / PART * PART
}

/// Nanoseconds a call of `check`, over the keys from `at` on, again and again.
pub fn thread_ns(texts: &[String], mut at: usize, mut check: impl FnMut(&String)) -> f64 {
    let mut parts: Vec<f64> = (0..PARTS)
        .map(|_| {
            let began = now_ns();
            for key in &texts[at..at + PART] {
                check(key);
            }
            at = if at + 2 * PART <= texts.len() {
                at + PART
            } else {
                0
            };
            (now_ns() - began) / PART as f64
        })
        .collect();
    parts.sort_by(f64::total_cmp);
    parts[PARTS / 4]
}
