//! The README of an experiment as part of its page.

use maud::PreEscaped;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

/// Renders Markdown as HTML. Headings are two levels deeper, because the page has its own. Embedded
/// HTML is shown as text, and pictures as their descriptions, because the page loads nothing. Only
/// links to the web or within the page are kept: others could run a script or open local files.
pub fn html(text: &str) -> PreEscaped<String> {
    let mut page = String::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    // Links cannot be nested.
    let mut follows = true;
    let events = Parser::new_ext(text, options).filter(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            follows = leads_to_the_web(dest_url) || dest_url.starts_with('#');
            follows
        }
        Event::End(TagEnd::Link) => follows,
        _ => true,
    });
    push_html(&mut page, events.map(safe));
    PreEscaped(page)
}

fn leads_to_the_web(address: &str) -> bool {
    let begins_with = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins_with("https://") || begins_with("http://")
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

    #[test]
    fn links_lead_to_the_web_or_into_the_page() {
        for bad in [
            "[x](javascript:alert(3))",
            "[x](JavaScript:alert(3))",
            "[x](file:///etc/passwd)",
            "[x](data:text/html,x)",
            "[x](//host/y)",
            "[x](../y.md)",
            "[x][r]\n\n[r]: vbscript:y",
            "<javascript:x>",
        ] {
            let page = html(bad).0;
            assert!(!page.contains("<a ") && !page.contains("</a>"), "{page}");
            assert!(page.contains('x'), "the words stay: {page}");
        }
        for good in ["https://a.example/b", "HTTP://a.example", "#part"] {
            let page = html(&format!("[x](y.md) [x]({good})")).0;
            assert!(page.contains(&format!("<a href=\"{good}\">x</a>")), "{page}");
        }
    }
}
