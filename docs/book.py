"""Gives every page of the book its path from the root of the project, so that links work here as they do on GitHub."""

from pathlib import Path

from mkdocs.structure.files import File, Files

# Pages, and files that pages link to.
PARTS = [
    "*.md",
    "LICENSE-*",
    "docs/**/*.md",
    "docs/**/*.png",
    "docs/**/*.svg",
    "docs/**/*.json",
    "experiments/*/README.md",
    "experiments/*/*.toml",
    "presets/**/*.toml",
    "examples/**/*",
]


def on_files(files, config):
    root = Path(config.config_file_path).parent
    pages = sorted({path for part in PARTS for path in root.glob(part) if path.is_file()})
    ours = [
        File(path.relative_to(root).as_posix(), str(root), config.site_dir, config.use_directory_urls) for path in pages
    ]
    theme = [file for file in files if file.src_dir != config.docs_dir]
    return Files(ours + theme)
