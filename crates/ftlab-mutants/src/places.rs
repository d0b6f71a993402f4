//! Finds every place in a source file that can be made wrong, by walking its syntax tree.
//!
//! A fault is written beside the original, and a switch chooses between them at run time
//! (`planted.rs`), so one build holds all faults of a run. What must be known at compile time
//! (constants, patterns, types) cannot hold a switch and is left alone, and so are tests,
//! assertions and the insides of macros.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Lit, Meta, ReturnType, Stmt, Type, UnOp};

/// A place and its fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// The bytes of the file that the fault replaces; empty if it only inserts.
    pub bytes: Range<usize>,
    /// The first line, counted from 1.
    pub line: usize,
    /// The original code on one line.
    pub was: String,
    /// The faulty code on one line.
    pub becomes: String,
    shape: Shape,
}

/// How the fault is written beside the original.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// Another value.
    Value(String),
    /// A statement that is skipped.
    Dropped,
    /// A function that returns this at once.
    Returns(String),
}

impl FaultPlace {
    /// Returns the code with the fault: the original and fault number `fault` behind the switch.
    pub fn with_fault(&self, text: &str, fault: usize) -> String {
        let original = &text[self.bytes.clone()];
        let on = format!("crate::planted::on({fault})");
        match &self.shape {
            Shape::Value(wrong) => format!("(if {on} {{ {wrong} }} else {{ {original} }})"),
            Shape::Dropped => format!("if !{on} {{ {original} }}"),
            Shape::Returns(value) => format!(" if {on} {{ return {value}; }} "),
        }
    }
}

/// A file's places, and the modules it declares that get no faults.
#[derive(Debug, Default)]
pub struct FilePlaces {
    /// In source order.
    pub places: Vec<FaultPlace>,
    /// Modules in files of their own that exist only in tests or the watched build.
    pub left_out: Vec<String>,
}

/// Finds the places of a file.
///
/// # Errors
/// The text is not Rust.
pub fn find(text: &str) -> Result<FilePlaces, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut finder = Finder { text, found: FilePlaces::default() };
    finder.visit_file(&file);
    finder.found.places.sort_by_key(|place| (place.bytes.start, place.bytes.end));
    Ok(finder.found)
}

struct Finder<'t> {
    text: &'t str,
    found: FilePlaces,
}

/// Returns the wrong operators to try in place of one.
fn mistaken(op: &BinOp) -> Option<&'static [&'static str]> {
    Some(match op {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<="],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) | BinOp::Mul(_) => &["+"],
        BinOp::Div(_) | BinOp::Rem(_) => &["*"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) | BinOp::BitXor(_) => &["&"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        _ => return None,
    })
}

/// Methods and their wrong replacements, with the same arguments and type.
const METHODS: [(&str, &str); 8] = [
    ("min", "max"),
    ("max", "min"),
    ("any", "all"),
    ("all", "any"),
    ("is_some", "is_none"),
    ("is_none", "is_some"),
    ("div_ceil", "wrapping_div"),
    ("saturating_sub", "saturating_add"),
];

/// Return types, and the values to return at once.
const VALUES: [(&str, &[&str]); 12] = [
    ("bool", &["true", "false"]),
    ("Option", &["None"]),
    ("Vec", &["Vec::new()"]),
    ("String", &["String::new()"]),
    ("usize", &["0", "1"]),
    ("u8", &["0", "1"]),
    ("u16", &["0", "1"]),
    ("u32", &["0", "1"]),
    ("u64", &["0", "1"]),
    ("f64", &["0.0", "1.0"]),
    ("SimTime", &["Default::default()"]),
    ("Nanos", &["Default::default()"]),
];

/// Functions of this name exist only in the build that checks itself.
const AUDIT: &str = "audit";

impl Finder<'_> {
    fn cut(&self, span: Span) -> &str {
        &self.text[span.byte_range()]
    }

    fn add(&mut self, span: Span, becomes: &str, shape: Shape) {
        let was = one_line(self.cut(span));
        let (bytes, line) = (span.byte_range(), span.start().line);
        self.found.places.push(FaultPlace { bytes, line, was, becomes: one_line(becomes), shape });
    }

    fn value(&mut self, span: Span, wrong: String) {
        self.add(span, &wrong.clone(), Shape::Value(wrong));
    }

    /// A condition without a pattern may be always true or always false.
    fn condition(&mut self, cond: &Expr, forced: &[&str]) {
        if !binds(cond) {
            for &value in forced {
                self.value(cond.span(), value.to_owned());
            }
        }
    }

    /// A function may return before it does anything.
    fn body(&mut self, output: &ReturnType, block: &Block) {
        if block.stmts.is_empty() {
            return;
        }
        let values = match output {
            ReturnType::Default => &[""],
            ReturnType::Type(_, returned) => returned_at_once(returned),
        };
        let open = block.brace_token.span.open();
        let returned = match &block.stmts[..] {
            [Stmt::Expr(only, None)] => self.cut(only.span()).to_owned(),
            _ => String::new(),
        };
        for &value in values.iter().filter(|&&value| value.is_empty() || value != returned) {
            let at = open.byte_range().end;
            self.found.places.push(FaultPlace {
                bytes: at..at,
                line: open.start().line,
                was: "a function's body".to_owned(),
                becomes: format!("return {value}").trim_end().to_owned(),
                shape: Shape::Returns(value.to_owned()),
            });
        }
    }
}

fn returned_at_once(returned: &Type) -> &'static [&'static str] {
    let Type::Path(path) = returned else { return &[] };
    let Some(last) = path.path.segments.last() else { return &[] };
    VALUES.iter().find(|(name, _)| last.ident == name).map_or(&[], |(_, values)| values)
}

/// Whether a condition binds names, as `if let` does, and so cannot be replaced by a value.
fn binds(cond: &Expr) -> bool {
    match cond {
        Expr::Let(_) => true,
        Expr::Binary(pair) => binds(&pair.left) || binds(&pair.right),
        _ => false,
    }
}

/// Whether an item with these attributes exists only in tests or in the build that checks itself.
fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            !condition.starts_with("not")
                && (condition.contains("test") || condition.contains("verify"))
        }
        _ => false,
    })
}

fn one_line(text: &str) -> String {
    const LONGEST: usize = 72;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn attributes(item: &syn::Item) -> &[Attribute] {
    use syn::Item::{Enum, Fn, Impl, Mod, Static, Struct, Trait, Use};
    match item {
        Enum(item) => &item.attrs,
        Fn(item) => &item.attrs,
        Impl(item) => &item.attrs,
        Mod(item) => &item.attrs,
        Static(item) => &item.attrs,
        Struct(item) => &item.attrs,
        Trait(item) => &item.attrs,
        Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    // Not visited: what must be known at compile time, and what is not code.
    fn visit_attribute(&mut self, _: &'a Attribute) {}
    fn visit_type(&mut self, _: &'a Type) {}
    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'a syn::AngleBracketedGenericArguments,
    ) {
    }
    fn visit_generics(&mut self, _: &'a syn::Generics) {}
    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'a syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'a syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }
    fn visit_pat(&mut self, pat: &'a syn::Pat) {
        if let syn::Pat::Guard(guard) = pat {
            self.condition(&guard.guard, &["true", "false"]);
            self.visit_expr(&guard.guard);
        }
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        } else if let syn::Item::Mod(module) = item {
            self.found.left_out.push(module.ident.to_string());
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if item.sig.constness.is_none() {
            self.body(&item.sig.output, &item.block);
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        let watches = is_for_tests(&item.attrs) || item.sig.ident == AUDIT;
        if item.sig.constness.is_none() && !watches {
            self.body(&item.sig.output, &item.block);
            visit::visit_block(self, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(&item.sig.output, block);
            visit::visit_block(self, block);
        }
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        if !is_for_tests(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Expr(expr, semicolon) = stmt {
            let inner = if let Expr::Try(tried) = expr { &*tried.expr } else { expr };
            let acts = match inner {
                Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) => true,
                Expr::Binary(pair) => mistaken(&pair.op).is_none_or(|ops| ops[0].ends_with('=')),
                _ => false,
            };
            if acts && semicolon.is_some() {
                self.add(stmt.span(), "nothing", Shape::Dropped);
            }
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Binary(pair) if !binds(expr) => {
                let (left, right) = (self.cut(pair.left.span()), self.cut(pair.right.span()));
                let assigns = |op: &str| matches!(op, "+=" | "-=");
                let wrong: Vec<String> = mistaken(&pair.op)
                    .unwrap_or_default()
                    .iter()
                    .map(|op| match assigns(op) {
                        true => format!("{left} {op} {right}"),
                        false => format!("({left}) {op} ({right})"),
                    })
                    .collect();
                wrong.into_iter().for_each(|wrong| self.value(expr.span(), wrong));
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let wrong = self.cut(unary.expr.span()).to_owned();
                self.value(expr.span(), wrong);
            }
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => {
                    if let Ok(value) = number.base10_parse::<u64>() {
                        let wrong = format!("{}{}", u128::from(value) + 1, number.suffix());
                        self.value(expr.span(), wrong);
                    }
                }
                Lit::Float(_) => {
                    let wrong = format!("{} + 1.0", self.cut(expr.span()));
                    self.value(expr.span(), wrong);
                }
                Lit::Bool(value) => self.value(expr.span(), (!value.value).to_string()),
                _ => {}
            },
            Expr::MethodCall(call) => {
                if let Some((name, other)) = METHODS.iter().find(|(name, _)| call.method == name) {
                    let (whole, method) = (expr.span().byte_range(), call.method.span());
                    let start = &self.text[whole.start..method.byte_range().start];
                    let end = &self.text[method.byte_range().start + name.len()..whole.end];
                    self.value(expr.span(), format!("{start}{other}{end}"));
                }
            }
            Expr::If(choice) => self.condition(&choice.cond, &["true", "false"]),
            // Never `true`: an endless loop says little about the tests.
            Expr::While(repeated) => self.condition(&repeated.cond, &["false"]),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let told =
            |place: &FaultPlace| format!("{}: {} -> {}", place.line, place.was, place.becomes);
        find(text).expect("Rust").places.iter().map(told).collect()
    }

    fn holds(text: &str, what: &str) {
        assert!(told(text).iter().any(|place| place == what), "{what}: {:#?}", told(text));
    }

    #[test]
    fn each_kind_of_fault_is_found() {
        let text = "fn f(mut a: u32, b: u32) -> bool {\n\
                    \x20   a += b;\n\
                    \x20   g.h(a);\n\
                    \x20   if a < b && !c(a) {\n\
                    \x20       return a.max(7) == 2.5;\n\
                    \x20   }\n\
                    \x20   match a { 3 if b > a => true, _ => b }\n\
                    }\n";
        for what in [
            "1: a function's body -> return true",
            "2: a += b; -> nothing",
            "2: a += b -> a -= b",
            "3: g.h(a); -> nothing",
            "4: a < b -> (a) <= (b)",
            "4: a < b && !c(a) -> (a < b) || (!c(a))",
            "4: a < b && !c(a) -> false",
            "4: !c(a) -> c(a)",
            "5: a.max(7) -> a.min(7)",
            "5: 7 -> 8",
            "5: 2.5 -> 2.5 + 1.0",
            "5: a.max(7) == 2.5 -> (a.max(7)) != (2.5)",
            "7: b > a -> true",
            "7: true -> false",
        ] {
            holds(text, what);
        }
    }

    #[test]
    fn what_is_known_at_compile_time_is_left_alone() {
        for text in [
            "const A: u32 = 1 + 2;",
            "static B: [u8; 3] = [0; 3];",
            "const fn f() -> u32 { 1 + 2 }",
            "enum E { A = 1 }",
            "fn f(a: [u8; 3]) {}",
            "fn f() -> Option<u32> { None }",
            "fn f() -> Thing { a::<3>([b; 3]) }",
            "fn f() -> Thing { match a { 1 | 2..=3 => b, _ => c } }",
            "fn f() -> Thing { assert!(a == 1) }",
            "fn f() -> Thing { if let Some(a) = b { a } else { c } }",
        ] {
            assert_eq!(told(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn tests_and_their_modules_are_left_out() {
        let text = "#[cfg(test)] mod tests;\n#[cfg(test)] mod here { fn f() -> bool { a == b } }\n\
                    #[cfg(feature = \"verify\")] fn g() -> bool { a == b }\n#[test] fn h() { a(); }\n";
        let found = find(text).expect("Rust");
        assert_eq!((found.places, found.left_out), (vec![], vec!["tests".into(), "here".into()]));
    }

    #[test]
    fn the_original_stays_beside_the_fault() {
        let text = "fn é() -> Thing { a == b }";
        let place = &find(text).expect("Rust").places[0];
        let want = "(if crate::planted::on(4) { (a) != (b) } else { a == b })";
        assert_eq!(place.with_fault(text, 4), want);
        let text = "fn f() -> Thing { a(); b }";
        let place = &find(text).expect("Rust").places[0];
        assert_eq!(place.with_fault(text, 0), "if !crate::planted::on(0) { a(); }");
        let text = "fn f() -> bool { b }";
        let place = &find(text).expect("Rust").places[0];
        assert_eq!(place.with_fault(text, 1), " if crate::planted::on(1) { return true; } ");
    }
}
