//! Ageing without a clock.

use crate::bench::{Clock, age, config};

#[test]
fn measure() {
    for options in std::env::var("SETS").unwrap().split(';') {
        let options: Vec<&str> = options.split(',').filter(|o| !o.is_empty()).collect();
        let config = config(&options);
        println!("{options:?}");
        for clock in [Clock::Timed, Clock::Untimed] {
            let began = std::time::Instant::now();
            let seeds: u64 = std::env::var("SEEDS").unwrap().parse().unwrap();
            let mut sum = vec![];
            for seed in 1..=seeds {
                let aged = age(&config, clock, seed, 30);
                let valid = aged.valid();
                let mean = valid.iter().sum::<u32>() as f64 / valid.len() as f64;
                sum.push(aged.amplification);
                print!("{:.4} {:.2}/{} {} | ", aged.amplification, mean, valid[valid.len()/10], aged.erases().iter().map(|&e| (e as f64).powi(2)).sum::<f64>() / aged.erases().len() as f64);
            }
            let n = seeds as f64;
            let m = sum.iter().sum::<f64>() / n;
            let sd = (sum.iter().map(|x| (x-m)*(x-m)).sum::<f64>() / (n-1.0).max(1.0)).sqrt();
            println!("\n  {clock:?} mean {m:.4} sd {sd:.4} ({:.2} %) took {:?}", sd/m*100., began.elapsed());
        }
    }
}
