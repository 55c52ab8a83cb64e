"""With the keyboard alone: every control is reached, seen, used, and left again."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.web.browser.building import Builder, flat

#: What has the focus: whether one sees it, and whether it comes after what had it before.
FOCUSED = """() => {
  const now = document.activeElement;
  if (!now || now === document.body) return null;
  const style = getComputedStyle(now);
  const ring = now.tagName === "path" ? document.querySelector(".ring[d]:not([d=''])") : null;
  const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const box = now.getBoundingClientRect();
  const before = window.lastFocus;
  const after = !before || !before.isConnected
    || Boolean(before.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING);
  window.lastFocus = now;
  return {
    name: `${now.tagName}.${now.className} ${now.dataset.focus ?? now.id ?? ""}`,
    seen: seen || Boolean(ring) || style.boxShadow !== "none",
    there: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight,
    after,
  };
}"""


class Keys:
    """Somebody without a mouse."""

    def __init__(self, page: Builder) -> None:
        self.page = page.page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def write(self, text: str) -> None:
        self.page.keyboard.type(text)

    def to(self, selector: str, *, back: bool = False, most: int = 90) -> None:
        """Go on with the tabulator until something is reached; all on the way must be seen."""
        self.page.evaluate("() => { window.lastFocus = null; }")
        for _ in range(most):
            if self.page.evaluate("one => document.activeElement.matches(one)", selector):
                return
            self.press("Shift+Tab" if back else "Tab")
            now = self.page.evaluate(FOCUSED)
            if now is None:
                continue  # the browser's own controls
            assert now["seen"], f"{now['name']} does not show that it has the focus"
            assert now["there"], f"{now['name']} has the focus outside of the window"
            assert back or now["after"], f"{now['name']} comes before what had the focus"
        raise AssertionError(f"the tabulator does not reach {selector}")


def test_a_table_is_built_without_a_mouse(builder: Callable[..., Builder]) -> None:
    page = builder()
    window, keys = page.page, Keys(page)
    # Over the head of the page.
    keys.press("Tab")
    expect(window.locator("a.skip")).to_be_focused()
    keys.press("Enter")
    expect(window.locator("#main")).to_be_focused()
    keys.to("#population select")
    keys.press("ArrowDown", "ArrowDown")
    window.wait_for_function("() => location.search.includes('households')")
    page.settled()
    expect(window.locator("#population select")).to_be_focused()
    # Escape leaves a dialog, and the focus goes back to where it was.
    keys.to("[data-focus=areas]")
    keys.press("Enter")
    expect(page.dialog).to_be_visible()
    keys.press("Escape")
    expect(page.dialog).to_have_count(0)
    expect(window.locator("[data-focus=areas]")).to_be_focused()
    keys.press("Enter")
    expect(page.dialog.locator(".code-list label")).to_have_count(26)
    keys.to("dialog select")
    keys.press("ArrowDown")
    expect(page.dialog.locator(".code-list label")).to_have_count(5)
    # Ticks in the list, and areas on the map, by keys.
    keys.to("dialog .picker-bar [aria-pressed=false]")
    keys.to("dialog input[type=search]")
    keys.write("P00")
    keys.to("dialog .code-list input")
    keys.press("Space")
    expect(page.dialog.locator(".code-list input").first).not_to_be_checked()
    keys.press("Space")
    name = page.says("builder.areas.map")
    window.evaluate(
        """name => [...document.querySelectorAll("dialog .segments button")]
          .find(one => one.textContent === name).setAttribute("data-map", "")""",
        name,
    )
    keys.to("[data-map]", back=True)
    keys.press("Enter")
    keys.to("dialog path.area")
    keys.press("ArrowRight", "Space")
    expect(page.dialog.locator("path[aria-checked=false]")).to_have_count(1)
    keys.press("Space")
    expect(page.dialog.locator("path[aria-checked=false]")).to_have_count(0)
    keys.to("dialog .button.primary")
    keys.press("Enter")
    window.wait_for_function("() => location.search.includes('parish')")
    page.settled()
    expect(window.locator("[data-focus=areas]")).to_be_focused()
    # A variable, by words.
    keys.to("#variables input[type=search]")
    keys.write("tenure")
    keys.to("[data-focus=add-tenure]")
    keys.press("Enter")
    window.wait_for_function("() => location.search.includes('tenure')")
    page.settled()
    expect(window.locator("[data-focus=add-tenure]")).to_be_focused()
    check_moving(page, keys)
    check_result(page, keys)


def check_moving(page: Builder, keys: Keys) -> None:
    keys.to("[data-focus=grip-tenure]", back=True)
    before = sorted(flat(page.grid()))
    keys.press("ArrowUp")
    assert page.zone("rows") == ["ed", "tenure"]
    assert sorted(flat(page.grid())) == before
    expect(page.page.locator("[data-focus=grip-tenure]")).to_be_focused()
    expect(page.page.locator("#live")).to_contain_text(page.says("builder.arrange.rows"))
    keys.press("ArrowDown")
    assert page.zone("columns") == ["tenure"]
    # A menu: arrows go round, Escape closes it.
    keys.to("[data-focus=menu-tenure]")
    keys.press("Enter")
    items = page.page.locator("[role=menuitem]")
    expect(items.first).to_be_focused()
    keys.press("ArrowUp")
    expect(items.last).to_be_focused()
    keys.press("Escape")
    expect(items).to_have_count(0)
    expect(page.page.locator("[data-focus=menu-tenure]")).to_be_focused()


def check_result(page: Builder, keys: Keys) -> None:
    window = page.page
    keys.to("#result [role=tab][aria-selected=true]")
    keys.press("ArrowRight")
    expect(window.locator(".r-drawing svg").first).to_be_attached()
    expect(window.locator("#result-tab-chart")).to_be_focused()
    keys.press("ArrowRight")
    expect(window.locator(".r-areas")).to_be_visible()
    keys.to(".r-areas")
    keys.press("ArrowDown", "End")
    expect(window.locator(".r-areas [aria-selected=true]")).to_have_count(1)
    keys.to("#result-tab-map", back=True)
    keys.press("Home")
    expect(window.locator("#result-tab-table")).to_be_focused()
    keys.to("[data-focus=download]")
    keys.press("Enter")
    keys.to("a[data-format=px]")
    with window.expect_download() as caught:
        keys.press("Enter")
    assert caught.value.suggested_filename.endswith(".px")
    keys.press("Escape")
    expect(window.locator("#result-download")).to_be_hidden()
    expect(window.locator("[data-focus=download]")).to_be_focused()
    keys.to("[data-focus=show]")
    keys.press("ArrowDown")
    window.wait_for_function("() => location.search.includes('show=row')")
    expect(page.control("show")).to_be_focused()
    keys.to("[data-focus=totals]")
    keys.press("Space")
    window.wait_for_function("() => location.search.includes('totals=0')")
    keys.to("#result .r-scroll")
    keys.to("[data-focus=call]")
    keys.to(".r-feedback summary")
    keys.press("Enter")
    keys.to(".r-feedback textarea")
    keys.write("By keys.")
    keys.to(".r-feedback button")
    keys.press("Enter")
    expect(window.locator(".r-feedback-state")).to_have_text(page.says("result.feedback.done"))
