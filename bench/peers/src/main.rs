//! Limiters of others, in process, on the same keys in the same order as bench/table/bench.c has them for laju's table.
//!
//!     peers-bench governor|throttlecrab KEYS FILE
//!
//! FILE is what bench/table/stream.c wrote. A key may do a thousand a second. Prints `CONTESTANT KEYS WAY THREADS NS`, where
//! WAY is `given-clock` (the time is an argument, or an atomic that is moved on a microsecond a call) or `own-clock`
//! (what governor reads by default).

mod governor;
mod measure;
mod throttlecrab;

use std::fs;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(contestant), Some(keys), Some(path)) = (
        arguments.next(),
        arguments.next().and_then(|n| n.parse::<u32>().ok()),
        arguments.next(),
    ) else {
        eprintln!("usage: peers-bench governor|throttlecrab KEYS FILE");
        std::process::exit(2);
    };
    let file = fs::read_to_string(&path).expect("the keys");
    let texts: Vec<String> = file.lines().map(String::from).collect();
    match contestant.as_str() {
        "governor" => governor::run(keys, &texts),
        "throttlecrab" => throttlecrab::run(keys, &texts),
        _ => panic!("no contestant {contestant}"),
    }
}
