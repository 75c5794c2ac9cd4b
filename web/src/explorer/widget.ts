/** Entry of the notebook's widget. */

import { type Model, WidgetEngine } from "./asking/engine.ts";
import { Explorer } from "./explorer.ts";

export default {
  render({ model, el }: { model: Model; el: HTMLElement }): () => void {
    const root = document.createElement("div");
    root.className = "croupier-explorer";
    el.append(root);
    const explorer = new Explorer(root, new WidgetEngine(model), false);
    return () => explorer.unmount();
  },
};
