//! Packs the page into one file that fetches nothing: `ftlab-web-page LIBRARY.wasm PAGE.html`.
//!
//! A page that is opened from a disk may not load modules, workers or WebAssembly from other files, so all of them are
//! within it: the library compressed and as base64, the worker as a text that the page makes a worker of.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const BODY: &str = include_str!("../../page/page.html");
const WORKER: &str = include_str!("../../page/worker.js");
/// The scripts of the page, in their order. Common parts are those of the result pages.
const SCRIPTS: [&str; 9] = [
    include_str!("../../../ftlab-lab/assets/uplot/uPlot.iife.min.js"),
    include_str!("../../../ftlab-lab/assets/page/common.js"),
    include_str!("../../../ftlab-lab/assets/page/vector.js"),
    include_str!("../../page/pointed.js"),
    include_str!("../../page/paper.js"),
    include_str!("../../page/strip.js"),
    include_str!("../../page/plots.js"),
    include_str!("../../page/tours.js"),
    include_str!("../../page/main.js"),
];
const STYLES: [&str; 3] = [
    include_str!("../../../ftlab-lab/assets/uplot/uPlot.min.css"),
    include_str!("../../../ftlab-lab/assets/page/page.css"),
    include_str!("../../page/web.css"),
];
const PLOT_LICENCE: &str = include_str!("../../../ftlab-lab/assets/uplot/LICENSE");

fn page(library: &[u8]) -> Result<String, Box<dyn Error>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(library)?;
    let packed = STANDARD.encode(packed.finish()?);
    let script = SCRIPTS.join("\n");
    // Inside a script element, nothing may look like its end tag.
    let worker = serde_json::to_string(WORKER)?.replace('<', "\\u003c");
    let hash = STANDARD.encode(Sha256::digest(&script));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{hash}' 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'"
    );
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>ftlab: a drive in the browser</title>\n<!-- uPlot:\n{PLOT_LICENCE}-->\n<style>{styles}</style>\n</head>\n<body>\n\
         <main>\n{BODY}</main>\n\
         <script type=\"application/json\" id=\"worker\">{worker}</script>\n\
         <script type=\"application/octet-stream\" id=\"wasm\">{packed}</script>\n\
         <script>{script}</script>\n</body>\n</html>\n",
        styles = STYLES.join("\n"),
    ))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, target] = &arguments[..] else {
        eprintln!("usage: ftlab-web-page LIBRARY.wasm PAGE.html (./x web does all of it)");
        return ExitCode::from(2);
    };
    let made = std::fs::read(library)
        .map_err(Into::into)
        .and_then(|library| page(&library))
        .and_then(|page| std::fs::write(target, page).map_err(Into::into));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ftlab-web-page: {error}");
            ExitCode::from(2)
        }
    }
}
