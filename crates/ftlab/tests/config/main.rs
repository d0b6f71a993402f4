//! From configuration text to a device: reading, checking, explaining, presets and images; and that
//! every option has an effect on some device.

mod bases;
mod device;
mod errors;
mod every_option;
mod image_bytes;
mod load;
mod presets;
mod store;
mod values;
