//! What both kinds of picture files share: the colours of both themes, and text that markup cannot mistake.

/// Inks as classes, for a light and a dark page; the reader's system chooses.
pub const STYLE: &str = "\
:root { color-scheme: light dark; --page: #ffffff; --plain: #1f2328; --label: #59636e; --frame: #c4ccd4; \
--shown: #0a3069; --shown-fill: #ddf4ff; --shared: #6b4300; --shared-fill: #ffe9ad; --unused: #6e7781; \
--unused-fill: #f3f5f7; --fault: #b3121d; --fault-fill: #ffe2df; --good: #116329; --good-fill: #d8f8e0; }
@media (prefers-color-scheme: dark) { :root { --page: #0d1117; --plain: #e6edf3; --label: #9aa4ae; --frame: #434c56; \
--shown: #b6dcff; --shown-fill: #12304f; --shared: #f7d272; --shared-fill: #463509; --unused: #8b949e; \
--unused-fill: #171d25; --fault: #ff9b94; --fault-fill: #4a1b1d; --good: #6fdd8b; --good-fill: #12361f; } }
.plain { --ink: var(--plain); --fill: var(--page); }
.title { --ink: var(--plain); --fill: var(--page); font-weight: 600; }
.label { --ink: var(--label); --fill: var(--page); }
.frame { --ink: var(--frame); --fill: var(--page); }
.shown { --ink: var(--shown); --fill: var(--shown-fill); }
.shared { --ink: var(--shared); --fill: var(--shared-fill); }
.unused { --ink: var(--unused); --fill: var(--unused-fill); }
.fault, .sign { --ink: var(--fault); --fill: var(--fault-fill); }
.good, .exponent { --ink: var(--good); --fill: var(--good-fill); }
.mantissa { --ink: var(--shown); --fill: var(--shown-fill); }
svg text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; }
svg text, svg tspan { fill: var(--ink); }
svg rect.cell { fill: var(--fill); stroke: var(--frame); }
svg rect.bar { fill: var(--ink); }
svg rect.rest { fill: var(--unused-fill); stroke: var(--frame); }
";

/// Text as markup.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No other control character may stand in markup at all.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
