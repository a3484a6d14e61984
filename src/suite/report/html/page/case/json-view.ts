import { renderText } from './long-text.ts';

/** A value as JSON on several lines. */
export function renderJson(value: unknown) {
  return renderText(toPrettyJson(value), 'code');
}

export function toPrettyJson(value: unknown) {
  return JSON.stringify(value, null, 2) ?? '';
}

export function hasMembers(value: Readonly<Record<string, unknown>>) {
  return Object.keys(value).length > 0;
}
