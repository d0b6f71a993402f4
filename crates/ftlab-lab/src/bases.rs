//! The files that device files build on (`base = "lab.toml"`). They are found relative to the file
//! that names them, and share one limit on their total length.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ftlab::config::{Files, Layer, circle};
use ftlab::options::text::shown;
use ftlab::options::value::ValueError;

use crate::failure::remedy;
use crate::image;
use crate::text_file::{self, MOST_BYTES};

/// Opens the base files of one device file.
pub struct Bases {
    /// How many bytes may still be read.
    left: u64,
    /// The folder that all files must lie in; none if they may lie anywhere.
    root: Option<PathBuf>,
}

impl Bases {
    /// Allows bases anywhere, for a device file of `length` bytes.
    pub fn anywhere(length: usize) -> Bases {
        Bases { left: MOST_BYTES.saturating_sub(length as u64), root: None }
    }

    /// Allows only bases within `root`, the folder of an experiment, so that the folder can be passed on.
    pub fn within_folder(root: &Path, length: usize) -> Bases {
        Bases { root: Some(root.to_owned()), ..Bases::anywhere(length) }
    }

    /// Refuses a file outside of the folder.
    fn refuse_outside(&self, path: &Path, name: &str) -> Result<(), ValueError> {
        let Some(root) = &self.root else { return Ok(()) };
        if lies_within(path, root).map_err(|error| unreadable(name, &error))? {
            return Ok(());
        }
        Err(ValueError::new(
            format!("{} is outside the experiment's folder", shown(name)),
            "copy it into the folder, and name it by its path from there",
        ))
    }

    fn read(&mut self, path: &Path, name: &str) -> Result<String, ValueError> {
        let text =
            text_file::read_at_most(path, self.left).map_err(|error| unreadable(name, &error))?;
        self.left -= text.len() as u64;
        Ok(text)
    }
}

fn unreadable(name: &str, error: &io::Error) -> ValueError {
    let told = match error.kind() {
        ErrorKind::NotFound => {
            "check the path, which is relative to the file that names it, or name a preset"
        }
        kind => remedy(kind),
    };
    ValueError::new(format!("can't read the file {}: {error}", shown(name)), told)
}

/// Whether a file lies in a folder or below it, after following all links.
///
/// # Errors
/// One of the two does not exist or cannot be read.
pub fn lies_within(path: &Path, root: &Path) -> io::Result<bool> {
    Ok(path.canonicalize()?.starts_with(root.canonicalize()?))
}

/// Whether the name of a device means a file. `path` is where that file would be.
pub fn means_file(name: &str, path: &Path) -> bool {
    let named = Path::new(name);
    named.components().count() > 1 || named.extension().is_some() || path.exists()
}

/// Returns the path of the file that the file `by` calls `name`.
fn beside(by: &str, name: &str) -> PathBuf {
    Path::new(by).parent().unwrap_or(Path::new("")).join(name)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

impl Files for Bases {
    fn open(&mut self, name: &str, above: &[&str]) -> Result<Option<Layer>, ValueError> {
        let path = beside(above[0], name);
        if name.is_empty() || !means_file(name, &path) {
            return Ok(None);
        }
        self.refuse_outside(&path, name)?;
        if let Some(same) = above.iter().find(|above| is_same(Path::new(above), &path)) {
            return Err(circle(same, above));
        }
        if image::is_one(&path) {
            return Err(ValueError::new(
                format!("{} is an image of a device, not a configuration", shown(name)),
                "write the configuration of its device into a file, or start from the image with `image`",
            ));
        }
        let text = self.read(&path, name)?;
        Ok(Some(Layer::file(&path.display().to_string(), &text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_for_beside_the_one_that_names_them() {
        assert_eq!(beside("my.toml", "lab.toml"), Path::new("lab.toml"));
        assert_eq!(beside("drives/my.toml", "../lab.toml"), Path::new("drives/../lab.toml"));
        assert_eq!(beside("drives/my.toml", "/etc/lab.toml"), Path::new("/etc/lab.toml"));
    }
}
