//! From configuration text to a device: reading, checking, explaining, presets, images; and that every option
//! shows in what a device does.

mod bases;
mod device;
mod errors;
mod every_option;
mod image_bytes;
mod load;
mod presets;
mod values;
