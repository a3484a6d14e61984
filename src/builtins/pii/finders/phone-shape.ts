import { isIPv4 } from 'node:net';

/** How a number is written. */
export interface PhoneShape {
  readonly start: number;
  /** Behind the extension, where there is one. */
  readonly end: number;
  readonly written: string;
  /** What a phone would send: digits, with a plus before a country code. */
  readonly dialled: string;
  /** The digits as they are written, without any prefix taken for another. */
  readonly digits: string;
  readonly count: number;
  readonly isInternational: boolean;
  /** Written in groups, so that it is no mere count or code. */
  readonly isGrouped: boolean;
  /** Written digit by digit. */
  readonly isSpelled: boolean;
  /** Whether a line ends within it. */
  readonly isSplit: boolean;
  /** Grouped in a way that is typical of phone numbers only, whatever the numbering plan. */
  readonly isDistinctive: boolean;
  /** Whether the groups may be those of a national number: no other identifier begins so. */
  readonly isPlausible: boolean;
}

/** Reads what stands from `start` to `end` as a phone number; undefined when it is a date, an address or the like. */
export function readPhoneShape(text: string, start: number, end: number): PhoneShape | undefined {
  const whole = text.slice(start, end);
  const written = whole.includes('(') && !whole.includes(')') ? whole.replace('(', '') : whole;
  const from = end - written.length;
  const sizes = written.match(/\d+/g)?.map(({ length }) => length) ?? [];
  extensionBehind.lastIndex = end;
  const extension = extensionBehind.exec(text)?.[0] ?? '';
  const after = text.slice(end + extension.length, end + extension.length + 2);
  if (isNotPhone(written, sizes) || /^(?:[A-Za-z\u00c0-\u024f\u1e00-\u1eff_]|[-/:.]\d| ?=)/u.test(after))
    return undefined;
  const dialled = dialledDigits(written);
  return {
    start: from,
    end: end + extension.length,
    written,
    dialled,
    digits: written.replace('(0)', '0').replace(/\D/g, ''),
    count: dialled.replace('+', '').length,
    isInternational: dialled.startsWith('+'),
    isGrouped: sizes.length > 1,
    isSpelled: sizes.every((size) => size === 1),
    isSplit: written.includes('\n'),
    isDistinctive: isDistinctive(written.replace(/\s*\n\s*/, ' ')),
    isPlausible: sizes.length > 1 && isPlausible(written.replace(/\s*\n\s*/, ' ')),
  };
}

/** Also those that stand behind a hyphen in China, and a German direct line. */
const extensionBehind =
  /(?: ?(?:x|ext\.? ?|extension |转 ?|轉 ?|内線 ?)\d{1,6}|(?<=\d{7,8})-\d{3,4})(?!\d)/iuy;

function dialledDigits(written: string): string {
  const digits = written.replace('(0)', '').replace(/[^\d+]/g, '');
  return written.startsWith('+') || written.startsWith('(+')
    ? digits
    : digits.replace(/^(?:00|011)(?=[1-9])/, '+');
}

/** Dates, IPv4 addresses, and rows of numbers that are too short or too long to be groups of one. */
function isNotPhone(written: string, sizes: readonly number[]): boolean {
  // A decimal number has no zero in front.
  if (isIPv4(written) || /^\D*(?:[1-9]\d*|0)\.\d+$/.test(written)) return true;
  // Thousands.
  if (/^[1-9]\d{0,2}(?:([ .])\d{3})(?:\1\d{3})*(?<=000)$/.test(written)) return true;
  if (sizes.length >= 9 && sizes.every((size) => size === 1)) return false;
  if (/^(?:19|20)\d\d([-./])[01]?\d\1[0-3]?\d/.test(written)) return true;
  if (/^[0-3]?\d([-./])[0-3]?\d\1(?:19|20)\d\d$/.test(written)) return true;
  if (/^(?:19|20)\d\d ?- ?(?:19|20)\d\d$/.test(written)) return true;
  const singles = sizes.filter((size) => size === 1).length;
  // German extensions: 0711/216-0.
  return singles > 2 || ((sizes.at(-1) ?? 0) < 2 && !/^(?:\+|.*\d\d-\d$)/.test(written));
}

/** 555-123-4567 and the like; 07071 29-0; (72) 754-186; 0490 75 40 81; 03.93.92.16.85; 655 44 33 22; 91 123 45 67. */
function isDistinctive(written: string): boolean {
  return (
    /^[679]\d\d([ .-])\d\d\1\d\d\1\d\d$|^9[1-8] \d{3} \d\d \d\d$/.test(written) ||
    directLine.test(written) ||
    /^1[-. ](?:\([2-9]\d\d\) ?|[2-9]\d\d[-. ])\d{3}[-. ]\d{4}$/.test(written) ||
    /^\(?[2-9]\d\d(?:\) ?|[-. ])\d{3}[-. ]\d{4}$/.test(written) ||
    /^\(0?\d{1,4}\) ?\d{2,4}[- ]\d{2,4}(?:[- ]\d{2,4})?$/.test(written) ||
    /^0[1-9]\d{0,3}([ .])\d{2,4}(?:\1\d{2,4}){1,3}$/.test(written)
  );
}

/** An area code, a number and a direct line (DIN 5008). */
const directLine = /^0[1-9]\d{1,4}[ /]\d{2,8}-\d{1,4}$/;

/** `2026-104523` numbers a case or an invoice. */
export function beginsWithYear(written: string): boolean {
  return /^(?:19|20)\d\d[-/.]/.test(written);
}

/** A national prefix, an area code in brackets, or the groups of North America, Spain and India. */
function isPlausible(written: string): boolean {
  if (beginsWithYear(written) || /(?:[ .]000)+$/.test(written)) return false;
  if (/^0 ?[1-9]/.test(written) && !directLine.test(written) && written.replace(/\D/g, '').length < 10)
    return false;
  return /^\(?0 ?[1-9]|^\(|^[2-9]\d\d([-. ])\d{3}\1\d{4}$|^[6-9]\d{4} \d{5}$|^[48]00-\d{3}-?\d{4}$|^1[3-9]\d([ -])\d{4}\2\d{4}$|^1800[ -]\d{3}[ -]\d{3,4}$/.test(
    written,
  );
}
