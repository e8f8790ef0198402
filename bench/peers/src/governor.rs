//! governor's keyed limiter, whose keys are strings.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::measure;

#[derive(Clone, Debug, Default)]
struct GivenClock(Arc<AtomicU64>);

impl Clock for GivenClock {
    type Instant = Nanos;
    fn now(&self) -> Nanos {
        Nanos::new(self.0.load(Ordering::Relaxed))
    }
}

impl GivenClock {
    fn move_on(&self) {
        self.0
            .store(self.0.load(Ordering::Relaxed) + 1000, Ordering::Relaxed);
    }
}

type Limiter<C> =
    RateLimiter<String, DashMapStateStore<String>, C, NoOpMiddleware<<C as Clock>::Instant>>;

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
                    measure::thread_ns(texts, measure::start(texts, number, threads), |key| {
                        clock.move_on();
                        let _ = std::hint::black_box(limiter.check_key(key));
                    })
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

fn run_with<C: Clock + Send + Sync>(
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

pub fn run(keys: u32, texts: &[String]) {
    let clock = GivenClock::default();
    clock.0.store(1_000_000_000_000, Ordering::Relaxed);
    run_with(keys, texts, "given-clock", clock.clone(), &clock);
    run_with(keys, texts, "own-clock", DefaultClock::default(), &clock);
}
