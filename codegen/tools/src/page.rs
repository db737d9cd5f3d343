//! The frame of a page that needs nothing else: no network, no file beside it.

use maud::{html, Markup, PreEscaped, DOCTYPE};

/// Lets a browser fetch nothing, whatever stands in the page.
pub const WITH_SCRIPTS: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The same for a page that has no scripts.
pub const WITHOUT_SCRIPTS: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The page of a body.
pub fn document(title: &str, policy: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                // Otherwise browsers ask a server for an icon.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}
