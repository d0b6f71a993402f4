//! Statistics and orders while a drive is served.
