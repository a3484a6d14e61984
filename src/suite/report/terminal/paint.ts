import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';
/** The text in that style, or as it is where styles are not shown. */
export type Paint = (style: Style, text: string) => string;

export function createPaint(hasColour: boolean): Paint {
  return hasColour
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}
