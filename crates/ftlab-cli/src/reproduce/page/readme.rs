//! The README of an experiment as a part of its page.

use maud::PreEscaped;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

/// The text as HTML: headings two levels deeper, since the page has its own; HTML within it is shown as
/// it is written, and pictures by what they are called, since the page loads nothing.
pub fn html(text: &str) -> PreEscaped<String> {
    let mut page = String::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    push_html(&mut page, Parser::new_ext(text, options).map(safe));
    PreEscaped(page)
}

fn safe(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Event::Start(Tag::Heading { level: deeper(level), id, classes, attrs })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(deeper(level))),
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        other => other,
    }
}

fn deeper(level: HeadingLevel) -> HeadingLevel {
    let deeper = (level as usize + 2).min(HeadingLevel::H6 as usize);
    HeadingLevel::try_from(deeper).unwrap_or(HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    use super::html;

    #[test]
    fn markdown_becomes_harmless_html() {
        let page = html("# Head\n\n| a | b |\n| --- | --- |\n| 1 | <script>x</script> |\n\n![p](http://x/y.png)\n").0;
        assert!(page.contains("<h3>Head</h3>") && page.contains("<td>1</td>"), "{page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
        assert!(!page.contains("<img") && page.contains("<em>p</em>"), "{page}");
    }
}
