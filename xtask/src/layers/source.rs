//! Finds what a source file takes from other modules: the paths of its `use` lines and those written out in its
//! code. The file is scanned as text; comments, strings and test modules do not count.

/// What a file says about modules.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    /// The paths it takes, one per name.
    pub taken: Vec<ImportPath>,
    /// Modules in files of their own that exist only for tests.
    pub tests: Vec<String>,
}

/// A path to an item of another module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportPath {
    /// Segments as written, including `crate`, `self` and `super`.
    pub path: Vec<String>,
    /// The local name; none for a path written out in the code.
    pub called: Option<String>,
    /// Whether the file only re-exports it (`pub use`).
    pub handed_on: bool,
}

const PATH: &str = "::";
const TEST: &[&str] = &["#", "[", "cfg", "(", "test", ")", "]", "mod"];

pub fn read(text: &str) -> SourceFile {
    let code = without_comments(text);
    let tokens = tokens(&code);
    let mut source = SourceFile::default();
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        at += match rest {
            _ if rest.starts_with(TEST) => test_module(&rest[TEST.len()..], &mut source),
            ["use", first, ..] if *first == "{" || is_name(first) => {
                let handed_on = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                let end = rest.iter().position(|token| *token == ";").unwrap_or(rest.len());
                tree(&rest[1..end], &[], handed_on, &mut source.taken);
                end
            }
            ["crate" | "self" | "super", PATH, ..] if at == 0 || tokens[at - 1] != PATH => {
                written_out(rest, &mut source.taken)
            }
            _ => 1,
        };
    }
    source
}

/// Skips a test module. Returns its number of tokens, including its head.
fn test_module(rest: &[&str], source: &mut SourceFile) -> usize {
    let name = rest.first().copied().unwrap_or_default();
    if rest.get(1) != Some(&"{") {
        source.tests.push(name.to_owned());
        return TEST.len() + 1;
    }
    let mut depth = 0_usize;
    let end = rest.iter().position(|token| {
        depth = match *token {
            "{" => depth + 1,
            "}" => depth - 1,
            _ => return false,
        };
        depth == 0
    });
    TEST.len() + end.unwrap_or(rest.len())
}

/// Collects the paths of a `use` tree.
fn tree(tokens: &[&str], above: &[String], handed_on: bool, taken: &mut Vec<ImportPath>) {
    let mut path = above.to_vec();
    let mut called = None;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            "{" => {
                let inside = &tokens[at + 1..tokens.len().saturating_sub(1)];
                branches(inside).for_each(|branch| tree(branch, &path, handed_on, taken));
                return;
            }
            "as" => {
                called = tokens.get(at + 1).map(|&name| name.to_owned());
                break;
            }
            "self" if !path.is_empty() => {}
            name if is_name(name) || name == "*" => path.push(name.to_owned()),
            _ => {}
        }
        at += 1;
    }
    if path.len() > above.len() || tokens.first() == Some(&"self") {
        let called = called.or_else(|| path.last().cloned());
        taken.push(ImportPath { path, called, handed_on });
    }
}

/// Splits at commas outside braces.
fn branches<'a>(tokens: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let mut depth = 0_i32;
    tokens.split(move |token| {
        depth += i32::from(*token == "{") - i32::from(*token == "}");
        depth == 0 && *token == ","
    })
}

/// Reads a path in the code. Returns its number of tokens.
fn written_out(rest: &[&str], taken: &mut Vec<ImportPath>) -> usize {
    let mut path = vec![rest[0].to_owned()];
    let mut length = 1;
    while let [PATH, name, ..] = rest[length..]
        && is_name(name)
    {
        path.push(name.to_owned());
        length += 2;
    }
    taken.push(ImportPath { path, called: None, handed_on: false });
    length
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits into names, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_part(first) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with(PATH) => PATH.len(),
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Removes comments and the contents of strings.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => string(rest),
            '\'' => character(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#") => raw_string(rest),
            _ => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        code.push(' ');
        rest = &rest[length..];
    }
    code
}

/// Returns the length of the string literal at the start.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// Returns the length of the character literal at the start, or 1 for a lifetime's quote.
fn character(rest: &str) -> usize {
    let mut after = rest.char_indices().skip(1);
    match (after.next(), after.next()) {
        (Some((_, '\\')), Some((at, _))) => {
            let from = at + rest[at..].chars().next().map_or(0, char::len_utf8);
            rest[from..].find('\'').map_or(rest.len(), |end| from + end + 1)
        }
        (_, Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Returns the length of the raw string at the start; for a raw identifier, of its prefix.
fn raw_string(rest: &str) -> usize {
    let hashes = rest[1..].len() - rest[1..].trim_start_matches('#').len();
    let open = 1 + hashes;
    if !rest[open..].starts_with('"') {
        return open;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    rest[open + 1..].find(&close).map_or(rest.len(), |end| open + 1 + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Vec<String> {
        read(text).taken.iter().map(|taken| taken.path.join(PATH)).collect()
    }

    #[test]
    fn trees_are_taken_apart() {
        let text = "use crate::a::{self, B, c::{D as E, *}};\npub(crate) use super::F;\n";
        let whole = ["crate::a", "crate::a::B", "crate::a::c::D", "crate::a::c::*", "super::F"];
        assert_eq!(taken(text), whole);
        let source = read(text);
        assert_eq!(source.taken[2].called.as_deref(), Some("E"));
        assert!(source.taken[4].handed_on && !source.taken[0].handed_on);
    }

    #[test]
    fn paths_in_code_and_in_macros_count() {
        assert_eq!(
            taken("fn f() -> $crate::a::B { super::g::<u8>() }"),
            ["crate::a::B", "super::g"]
        );
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        let text = "//! [`A`](crate::A)\nlet c = '\"'; let s = \"crate::b\\\"\"; let r = r#\"crate::c\"#;\n\
                    fn f<'a>(_: &'a str) {}\n#[cfg(test)]\nmod tests { use super::*; mod x {} }\n\
                    #[cfg(test)]\nmod by_hand;\nuse crate::d;";
        assert_eq!(taken(text), ["crate::d"]);
        assert_eq!(read(text).tests, ["by_hand"]);
    }
}
