//! Damaged data files.
