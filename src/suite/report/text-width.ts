export { cut, padEnd, padStart, textWidth } from '../../text-width.ts';
export { visibleLine as oneLine } from '../../visible.ts';
