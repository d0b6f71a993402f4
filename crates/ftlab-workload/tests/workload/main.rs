//! Traces, workloads and fio jobs, read from text, played, and compared with results computed by hand.

mod common;
mod every_key;
mod example_trace;
mod fio_jobs;
mod fio_placement;
mod fio_places;
mod fio_zones;
mod generate_file;
mod generate_load;
mod hit_ratios;
mod loads;
mod measure_first;
mod profiles;
mod ranking;
mod replay_mapping;
mod replay_modes;
mod replay_tenants;
mod stand_ins;
mod trace_conversions;
mod trace_errors;
mod trace_formats;
mod trace_limits;
mod trace_more_formats;
mod trace_parts;
mod trace_real;
mod trace_writer;
