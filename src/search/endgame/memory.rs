//! How much memory a table may take.

use std::fs;

/// Returns the bytes that the system says it can give; all there could be where it does not say.
///
/// Linux is asked, its limit for groups of processes included: a process that takes more would be
/// ended without a word.
pub(super) fn available() -> u64 {
    let free = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| of_meminfo(&text));
    let group = |name| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let left = group("memory.max")
        .zip(group("memory.current"))
        .and_then(|(limit, used)| of_group(&limit, &used));
    free.unwrap_or(u64::MAX).min(left.unwrap_or(u64::MAX))
}

fn of_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// No limit is written as a word.
fn of_group(limit: &str, used: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    let used: u64 = used.trim().parse().ok()?;
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_system_writes_it() {
        let text = "MemTotal:       24609012 kB\nMemAvailable:   23040516 kB\nBuffers: 1 kB\n";
        assert_eq!(of_meminfo(text), Some(23_040_516 * 1024));
        assert_eq!(of_meminfo("MemTotal: 1 kB\n"), None);
        assert_eq!(of_group("1000\n", "400\n"), Some(600));
        assert_eq!(of_group("1000\n", "1400\n"), Some(0));
        assert_eq!(of_group("max\n", "400\n"), None);
        assert!(available() > 0);
    }
}
