import { catalogue, type ErrorCode, type Fault } from '../base/errors.ts';
import { anyMembers, keyOf, members, optional, readShape, text } from '../base/json/shape.ts';

export const faultShape = members<Fault>({
  code: keyOf(catalogue),
  message: text,
  hint: text,
  details: optional(anyMembers),
});

const storedFault = members<Omit<Fault, 'code' | 'hint'> & { readonly code: string; readonly hint?: string }>(
  {
    code: text,
    message: text,
    hint: optional(text),
    details: optional(anyMembers),
  },
);

/** Replaces an unknown code by `otherwise`. Throws Error if the value is not a fault. */
export function readStoredFault(value: unknown, otherwise: ErrorCode = 'INTERNAL'): Fault {
  const { code, message, hint, details } = readShape(
    storedFault,
    value,
    (path) => new Error(`a stored fault has missing or invalid ${path === '' ? 'members' : path}`),
  );
  const known = isErrorCode(code) ? code : otherwise;
  const fault = { code: known, message, hint: hint ?? catalogue[known].hint };
  return details === undefined ? fault : { ...fault, details };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}
