//! Zones of skew as text, as papers on hot and cold data write them: `s0.9 f0.1 s0.1 f0.9` gives 90 %
//! of the space 10 % of the accesses, and the rest the other way round (s and f as in Desnoyers,
//! "Analytic Models of SSD Write Performance", ACM Transactions on Storage 2014, for two zones; here
//! there may be more).

use ftlab::options::text::clip;

use super::workload::Bucket;

/// Shares are whole numbers of this part.
const PARTS: u64 = 1_000_000_000;
const DIGITS: usize = 9;
const MOST_ZONES: usize = 4096;
const REMEDY: &str =
    "write the space and the accesses of each zone, such as \"s0.9 f0.1 s0.1 f0.9\"";

/// Returns the zones of `text` in its order, or a message and a remedy.
pub(super) fn parse(text: &str) -> Result<Vec<Bucket>, (String, &'static str)> {
    let words: Vec<&str> = text.split_ascii_whitespace().take(2 * MOST_ZONES + 2).collect();
    if words.is_empty() || words.len() > 2 * MOST_ZONES {
        return Err((format!("a skew has 1 to {MOST_ZONES} zones"), REMEDY));
    }
    let mut zones = Vec::with_capacity(words.len() / 2);
    for pair in words.chunks(2) {
        let [space, accesses] = pair else {
            return Err((format!("the accesses after `{}` are missing", clip(pair[0])), REMEDY));
        };
        zones.push(Bucket { space: share(space, 's')?, accesses: share(accesses, 'f')? });
    }
    for (letter, sum) in [
        ('s', zones.iter().map(|zone| zone.space).sum::<u64>()),
        ('f', zones.iter().map(|zone| zone.accesses).sum()),
    ] {
        if sum != PARTS {
            let message =
                format!("the shares `{letter}` sum to {}, not 1", sum as f64 / PARTS as f64);
            return Err((message, "make all `s` sum to 1, and all `f`"));
        }
    }
    Ok(zones)
}

/// Reads a share such as `s0.25`, exactly.
fn share(word: &str, letter: char) -> Result<u64, (String, &'static str)> {
    let number = word.strip_prefix(letter).filter(|number| number.len() <= DIGITS + 2);
    let parts = number.and_then(|number| {
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || whole.len() > 1 || number.is_empty() {
            return None;
        }
        format!("{whole}{decimals:0<DIGITS$}").parse().ok().filter(|parts| *parts <= PARTS)
    });
    parts.ok_or_else(|| {
        let message = format!("`{}` is not `{letter}` and a share from 0 to 1", clip(word));
        (message, REMEDY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read_exactly() {
        let zones =
            |text| parse(text).map(|zones| zones.iter().map(|z| (z.space, z.accesses)).collect());
        let (tenth, rest) = (PARTS / 10, PARTS / 10 * 9);
        assert_eq!(zones("s0.9 f0.1  s0.1 f0.9"), Ok(vec![(rest, tenth), (tenth, rest)]));
        assert_eq!(zones("s1 f1.0"), Ok(vec![(PARTS, PARTS)]));
        assert_eq!(zones("s.5 f0.000000001 s.5 f0.999999999").unwrap()[0], (PARTS / 2, 1));
    }

    #[test]
    fn a_mistake_is_told_with_its_word() {
        let told = |text| parse(text).unwrap_err().0;
        for (text, part) in [
            ("", "zones"),
            ("s0.9 f0.1 s0.1", "after `s0.1`"),
            ("f0.9 s0.1", "`f0.9` is not `s`"),
            ("s0.9 f1.1", "`f1.1`"),
            ("s0.9 f-1", "`f-1`"),
            ("s0.9 f0.0000000001", "`f0.0000000001`"),
            ("s0.9 f0.1 s0.2 f0.9", "`s` sum to 1.1, not 1"),
            ("s0.9 f0.1 s0.1 f0.8", "`f` sum to 0.9, not 1"),
            ("sé f1", "`sé`"),
            ("s f1", "`s`"),
        ] {
            assert!(told(text).contains(part), "{text}: {}", told(text));
        }
    }
}
