//! throttlecrab's limiter, with the store that its server has by default. One thread: it takes no two at a time.

use std::time::{Duration, SystemTime};

use throttlecrab::{PeriodicStore, RateLimiter};

use crate::measure;

pub fn run(keys: u32, texts: &[String]) {
    let mut limiter = RateLimiter::new(PeriodicStore::with_capacity(keys as usize));
    let mut now = SystemTime::now();
    for k in 0..keys {
        let _ = limiter.rate_limit(&format!("user:{k:07}"), 1000, 1000, 1, 1, now);
    }
    let ns = measure::thread_ns(texts, 0, |key| {
        now += Duration::from_micros(1);
        let _ = std::hint::black_box(limiter.rate_limit(key, 1000, 1000, 1, 1, now));
    });
    println!("throttlecrab {keys} given-clock 1 {ns:.1}");
}
