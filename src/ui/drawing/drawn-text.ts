/** An element's text. It remembers what it has drawn, because reading the element would copy the text. */
export class DrawnText {
  readonly #node = new Text();
  #drawn = '';

  constructor(element: Element) {
    element.replaceChildren(this.#node);
  }

  draw(text: string): void {
    const drawn = this.#drawn;
    if (text === drawn) return;
    this.#drawn = text;
    // Appending keeps the layout of the text before it.
    if (text.startsWith(drawn)) this.#node.appendData(text.slice(drawn.length));
    else this.#node.data = text;
  }
}
