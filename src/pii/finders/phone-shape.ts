import { isIPv4 } from 'node:net';

/** How a number is written. */
export interface PhoneShape {
  readonly start: number;
  /** Behind the extension, where there is one. */
  readonly end: number;
  readonly written: string;
  /** What a phone would send: digits, with a plus before a country code. */
  readonly dialled: string;
  readonly count: number;
  readonly isInternational: boolean;
  /** Written in groups, so that it is no mere count or code. */
  readonly isGrouped: boolean;
  /** Grouped in a way that is typical of phone numbers only, whatever the numbering plan. */
  readonly isDistinctive: boolean;
}

/** Reads what stands from `start` to `end` as a phone number; undefined when it is a date, an address or the like. */
export function readPhoneShape(text: string, start: number, end: number): PhoneShape | undefined {
  const whole = text.slice(start, end);
  const written = whole.includes('(') && !whole.includes(')') ? whole.replace('(', '') : whole;
  const from = end - written.length;
  const sizes = written.match(/\d+/g)?.map(({ length }) => length) ?? [];
  const extension = /^ ?(?:x|ext\.? ?|extension )\d{1,6}(?!\d)/i.exec(text.slice(end, end + 20))?.[0] ?? '';
  const after = text.slice(end + extension.length, end + extension.length + 2);
  if (isNotPhone(written, sizes) || /^(?:[\p{L}_]|[-/:]\d)/u.test(after)) return undefined;
  const dialled = dialledDigits(written);
  return {
    start: from,
    end: end + extension.length,
    written,
    dialled,
    count: dialled.replace('+', '').length,
    isInternational: dialled.startsWith('+'),
    isGrouped: sizes.length > 1,
    isDistinctive: isDistinctive(written),
  };
}

function dialledDigits(written: string): string {
  const digits = written.replace('(0)', '').replace(/[^\d+]/g, '');
  return written.startsWith('+') || written.startsWith('(+')
    ? digits
    : digits.replace(/^(?:00|011)(?=[1-9])/, '+');
}

/** Dates, IPv4 addresses, and rows of numbers that are too short or too long to be groups of one. */
function isNotPhone(written: string, sizes: readonly number[]): boolean {
  if (isIPv4(written) || /^\D*\d+\.\d+$/.test(written)) return true;
  if (/^(?:19|20)\d\d([-./])[01]?\d\1[0-3]?\d/.test(written)) return true;
  if (/^[0-3]?\d([-./])[0-3]?\d\1(?:19|20)\d\d$/.test(written)) return true;
  if (/^(?:19|20)\d\d ?- ?(?:19|20)\d\d$/.test(written)) return true;
  const singles = sizes.filter((size) => size === 1).length;
  return singles > 2 || (sizes.at(-1) ?? 0) < 2;
}

/** 555-123-4567 and the like; (72) 754-186; 0490 75 40 81; 03.93.92.16.85. */
function isDistinctive(written: string): boolean {
  return (
    /^\(?[2-9]\d\d(?:\) ?|[-. ])\d{3}[-. ]\d{4}$/.test(written) ||
    /^\(0?\d{1,4}\) ?\d{2,4}[- ]\d{2,4}(?:[- ]\d{2,4})?$/.test(written) ||
    /^0[1-9]\d{0,3}([ .])\d{2,4}(?:\1\d{2,4}){1,3}$/.test(written)
  );
}

/** Whether the words in the same line say that this is a phone number. */
export function hasPhoneLabel(text: string, { start, end }: PhoneShape): boolean {
  const before = text.slice(Math.max(0, start - 50), start);
  if (
    /(?:order|invoice|ticket|case|account|tracking|reference|ref|id|version|license|licence|passport|card|zip|sku)\b[^\n\p{L}]{0,4}(?:no\.?|number|num|#|is|:)?[^\n\p{L}]{0,4}$/iu.test(
      before,
    )
  )
    return false;
  return labelBefore.test(before) || labelAfter.test(text.slice(end, end + 14));
}

const labelBefore =
  /(?<!\p{L})(?:(?:tele|smart|i)?phones?|tel|mobile|mobil|cell(?:phone|ular)?|fax|call(?:ed|ing)?|dial(?:led)?|ring|text(?:ed|ing)?|sms|whatsapp|signal|hotline|landline|contact(?:ed)?|reach(?:ed)?|answering|voicemail|messages? (?:to|at|on)|desk|registered(?: number)?|handy|telefono?|teléfono|téléphone|móvil|portable|rufnummer|celular)(?!\p{L})(?:(?<=tel|mobil)\.)?[^\n\d@.!?]{0,30}(?:no\.)?\n?[^\n\d@.!?]{0,4}$/iu;
const labelAfter = /^[ \-,(]{0,3}(?:phone|mobile|cell|fax|office|desk|home|work|tel)(?!\p{L})/iu;
