import type { WireAnswer } from './codec.ts';
import { readErrorBody } from './error-body.ts';
import type { Refusal } from './refusal.ts';
import { all, type Shape } from './shape.ts';

/** The body of a refusal as APIs of OpenAI spell it: `{"error": {"message", "type", "param", "code"}}`. */
export function formatOpenAiError({ status, code, message, param, details }: Refusal): string {
  return JSON.stringify({ error: { ...details, message, type: typeOf(status), param: param ?? null, code } });
}

/** The `type` of an error of that HTTP status. */
function typeOf(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 429:
      return 'rate_limit_error';
    default:
      return status >= 500 ? 'server_error' : 'invalid_request_error';
  }
}

/** An upstream's error, in the forms that servers have. */
export function readOpenAiError(body: string): WireAnswer {
  return readErrorBody(body, errorShape);
}

const text: Shape = { show: 'text' };
const errorShape: Shape = {
  members: {
    error: {
      string: text,
      object: { members: { message: text, ...all('none', 'type', 'param', 'code') } },
      rest: 'other',
    },
    message: text,
    detail: text,
  },
};
