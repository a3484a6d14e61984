export { escapeInvisibleLine as oneLine } from '../../../text/escape-invisible.ts';
export { cut, padEnd, padStart, textWidth } from '../../../text/width.ts';
