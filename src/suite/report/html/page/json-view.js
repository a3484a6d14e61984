import { renderText } from './long-text.js';

/**
 * A value as JSON on several lines.
 * @param {unknown} value
 */
export function renderJson(value) {
  return renderText(toPrettyJson(value), 'code');
}

/** @param {unknown} value */
export function toPrettyJson(value) {
  return JSON.stringify(value, null, 2) ?? '';
}

/** @param {Readonly<Record<string, unknown>>} value */
export function hasMembers(value) {
  return Object.keys(value).length > 0;
}
