//! What a client would say, as bytes.

/// The flags of a client that knows everything.
pub(crate) fn client_flags() -> [u8; 4] {
    3u32.to_be_bytes()
}

/// An option.
pub(crate) fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let length = data.len() as u32;
    [&b"IHAVEOPT"[..], &number.to_be_bytes(), &length.to_be_bytes(), data].concat()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

/// Data of the options about an export.
pub(crate) fn info(name: &str, requests: &[u16]) -> Vec<u8> {
    let count = (requests.len() as u16).to_be_bytes();
    let requests = requests.iter().flat_map(|request| request.to_be_bytes());
    string(name).into_iter().chain(count).chain(requests).collect()
}

/// Data of the options about metadata contexts.
pub(crate) fn contexts(name: &str, queries: &[&str]) -> Vec<u8> {
    let count = (queries.len() as u32).to_be_bytes();
    let queries = queries.iter().flat_map(|query| string(query));
    string(name).into_iter().chain(count).chain(queries).collect()
}

/// A request without its payload.
pub(crate) fn request(
    action: u16,
    flags: u16,
    cookie: u64,
    (offset, length): (u64, u32),
) -> Vec<u8> {
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(action.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// A write with its payload.
pub(crate) fn write(flags: u16, cookie: u64, offset: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = request(1, flags, cookie, (offset, data.len() as u32));
    bytes.extend(data);
    bytes
}
