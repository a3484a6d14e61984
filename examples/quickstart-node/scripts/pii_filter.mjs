#!/usr/bin/env node
// Filter around a model. Hides e-mail addresses and card numbers in requests and answers.
import { isDeepStrictEqual } from 'node:util';
import { filter, replace } from './signalbox.mjs';

const EMAIL = /[\p{L}\p{N}_.%+-]+@[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+/gu;
const CARD = /(?<!\d)\d{4}[ -]?(?:\d{6}[ -]?\d{4,5}|\d{4}[ -]?\d{4}[ -]?\d{1,7})(?!\d)/g;
// Members of a message that are not text and pass unchanged.
const OPAQUE = new Set(['id', 'timestamp', 'media']);

/** Returns the value with every text in it redacted, at any depth. */
function clean(value) {
  if (typeof value === 'string') return value.replace(EMAIL, '[email]').replace(CARD, hideCard);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, OPAQUE.has(key) ? item : clean(item)]);
  return Object.fromEntries(entries);
}

/** Hides only numbers that pass the Luhn check, as card numbers do. */
function hideCard(found) {
  const digits = [...found]
    .filter((sign) => /\d/.test(sign))
    .map(Number)
    .reverse();
  const doubled = digits.map((digit, at) => (at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2));
  return doubled.reduce((sum, digit) => sum + digit, 0) % 10 === 0 ? '[card]' : found;
}

export const piiFilter = filter(({ phase, request, response }) => {
  // "other" has the remaining members of a request, such as its tools. Not every event has it.
  const names = ['messages', 'system_prompt', 'other'];
  const given =
    phase === 'before_call'
      ? Object.fromEntries(names.filter((name) => name in request).map((name) => [name, request[name]]))
      : { message: response.message };
  const changed = Object.entries(clean(given)).filter(
    ([name, value]) => !isDeepStrictEqual(value, given[name]),
  );
  if (changed.length === 0) return true;
  return replace(Object.fromEntries(changed), { reason: 'personal data was hidden' });
});

await piiFilter.run(import.meta);
