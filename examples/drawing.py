"""Boxes, words and arrows as SVG, for the pictures of the documents."""


class Drawing:
    def __init__(self):
        self.parts, self.y = [], 0

    def text(self, x, y, words, size=13, anchor="middle", weight="normal", fill="#1f2933", family="sans-serif"):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}" '
                          f'font-family="{family}">{words}</text>')

    def code(self, x, y, words, **more):
        self.text(x, y, words, family="monospace", **more)

    def box(self, x, y, w, h, fill, stroke, radius=4):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}" fill="{fill}" stroke="{stroke}"/>')

    def arrow(self, x1, y1, x2, y2):
        self.parts.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="#52606d" stroke-width="1.5" marker-end="url(#head)"/>')

    def pill(self, x, y, words):
        self.box(x - 74, y - 11, 148, 22, "#ffe3c2", "#cb6e17", 11)
        self.code(x, y + 4, words, fill="#8d4a0c", size=12)

    def svg(self, width, height):
        head = ('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                '<path d="M0 0L8 4L0 8z" fill="#52606d"/></marker></defs>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
                f'{head}\n<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")
