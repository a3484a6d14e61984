import { catalogue, type ErrorCode, type Fault } from '../errors.ts';
import { isObject, parseLossless, stringifyJson } from '../json/json.ts';

/** A fault as stored text. */
export function encodeFault(fault: Fault): string {
  return stringifyJson(fault);
}

/** Reads a stored fault; an unknown code becomes INTERNAL. Throws when the text is no fault. */
export function decodeFault(text: string): Fault {
  const value = parseLossless(text);
  if (!isObject(value)) throw new Error('a kept fault is no object');
  const { code, message, hint, details } = value;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof hint !== 'string') {
    throw new Error('a kept fault lacks its code, message or hint');
  }
  const fault = { code: isErrorCode(code) ? code : ('INTERNAL' as const), message, hint };
  return isObject(details) ? { ...fault, details } : fault;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}
