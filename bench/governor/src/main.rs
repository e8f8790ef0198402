//! Measures governor's keyed limiter with string keys: governor-bench KEYS FILE, the keys of FILE (bench/table/stream.c)
//! in their order, as bench/table/bench.c does with laju's table: the same keys, rule, parts and clock (an argument there,
//! here an atomic that is moved on a microsecond a call). Prints
//! `governor KEYS given-clock THREADS NS`, and the same as `own-clock`: with the clock that governor reads by default.

use std::fs;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

const PART: usize = 8192;
const PARTS: usize = 800;

#[derive(Clone, Debug, Default)]
struct GivenClock(Arc<AtomicU64>);

impl Clock for GivenClock {
    type Instant = Nanos;
    fn now(&self) -> Nanos {
        Nanos::new(self.0.load(Ordering::Relaxed))
    }
}

type Limiter<C> =
    RateLimiter<String, DashMapStateStore<String>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// Processor time of this thread.
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

fn measure_thread<C: Clock>(
    limiter: &Limiter<C>,
    clock: &GivenClock,
    texts: &[String],
    mut at: usize,
) -> f64 {
    let mut parts: Vec<f64> = (0..PARTS)
        .map(|_| {
            let began = now_ns();
            for key in &texts[at..at + PART] {
                clock
                    .0
                    .store(clock.0.load(Ordering::Relaxed) + 1000, Ordering::Relaxed);
                let _ = std::hint::black_box(limiter.check_key(key));
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

fn measure<C: Clock + Send + Sync>(
    limiter: &Limiter<C>,
    clock: &GivenClock,
    texts: &[String],
    threads: usize,
) -> f64
where
    C::Instant: Send + Sync,
{
    let start = Barrier::new(threads);
    let sum: f64 = thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    measure_thread(
                        limiter,
                        clock,
                        texts,
                        texts.len() / threads * number / PART * PART,
                    )
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    sum / threads as f64
}

fn run<C: Clock + Send + Sync>(
    keys: u32,
    texts: &[String],
    name: &str,
    clock: C,
    given: &GivenClock,
) where
    C::Instant: Send + Sync,
{
    let quota = Quota::per_second(NonZeroU32::new(1000).unwrap());
    let limiter: Limiter<C> = RateLimiter::new(quota, DashMapStateStore::default(), clock);
    for k in 0..keys {
        let _ = limiter.check_key(&format!("user:{k:07}"));
    }
    for threads in 1..=2 {
        println!(
            "governor {keys} {name} {threads} {:.1}",
            measure(&limiter, given, texts, threads)
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(keys), Some(path)) = (
        arguments.next().and_then(|n| n.parse::<u32>().ok()),
        arguments.next(),
    ) else {
        eprintln!("usage: governor-bench KEYS FILE");
        std::process::exit(2);
    };
    let clock = GivenClock::default();
    clock.0.store(1_000_000_000_000, Ordering::Relaxed);
    let file = fs::read_to_string(&path).expect("the keys");
    let texts: Vec<String> = file.lines().map(String::from).collect();
    run(keys, &texts, "given-clock", clock.clone(), &clock);
    run(keys, &texts, "own-clock", DefaultClock::default(), &clock);
}
