//! The files that device files build on (`base = "lab.toml"`): found beside the file that names them, and read as
//! far as they may be long, all together.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ftlab::config::{Files, Layer, circle};
use ftlab::options::text::shown;
use ftlab::options::value::ValueError;

use crate::failure::remedy;
use crate::image;
use crate::text_file::{self, MOST_BYTES};

/// The files beneath a device file.
pub struct Bases {
    /// How many bytes may still be read.
    left: u64,
    /// The folder in which files must lie, or beneath it, if they can't lie anywhere.
    root: Option<PathBuf>,
}

impl Bases {
    /// Those beneath a file of so many bytes, wherever they lie.
    pub fn anywhere(length: usize) -> Bases {
        Bases { left: MOST_BYTES.saturating_sub(length as u64), root: None }
    }

    /// The same for a file of an experiment, whose folder `root` can be handed on.
    pub fn within_folder(root: &Path, length: usize) -> Bases {
        Bases { root: Some(root.to_owned()), ..Bases::anywhere(length) }
    }

    /// A file outside is not opened.
    fn refuse_outside(&self, path: &Path, name: &str) -> Result<(), ValueError> {
        let Some(root) = &self.root else { return Ok(()) };
        if lies_within(path, root).map_err(|error| unreadable(name, &error))? {
            return Ok(());
        }
        Err(ValueError::new(
            format!("{} lies outside of the experiment's folder", shown(name)),
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
            "check the path, which begins at the file that names it, or name a preset (ftlab list devices)"
        }
        kind => remedy(kind),
    };
    ValueError::new(format!("can't read the file {}: {error}", shown(name)), told)
}

/// Whether a file lies in a folder or beneath it, with all links followed.
///
/// # Errors
/// One of the two is not there, or can't be looked at.
pub fn lies_within(path: &Path, root: &Path) -> io::Result<bool> {
    Ok(path.canonicalize()?.starts_with(root.canonicalize()?))
}

/// Whether somebody who names a device means a file. `path` is where that would be.
pub fn means_file(name: &str, path: &Path) -> bool {
    let named = Path::new(name);
    named.components().count() > 1 || named.extension().is_some() || path.exists()
}

/// Where the file lies that is called `name` in the file that is called `by`.
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
                "write what `ftlab config show` prints of its device into a file, or begin with the image by \
                 --image",
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
