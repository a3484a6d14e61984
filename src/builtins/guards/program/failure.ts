import { RuntimeError } from '../../../base/errors.ts';

/** Why a request was not answered, in words that contain nothing of its text. */
export function describeError(error: unknown): string {
  if (error instanceof RuntimeError) return error.message;
  if (error instanceof SyntaxError) return 'stdin is not one JSON object, nor a line of JSON-RPC';
  if (!(error instanceof Error)) return 'the filter itself failed';
  return `the filter itself failed (${error.name}${stackFrameOf(error)})`;
}

/** The first stack frame: unlike the message of an unknown error, it cannot quote a value. */
function stackFrameOf({ name, message, stack = '' }: Error): string {
  const head = message === '' ? name : `${name}: ${message}`;
  if (!stack.startsWith(head)) return '';
  const [place = ''] = stack.slice(head.length).match(/(?<=^ {4})at .*$/m) ?? [];
  return place === '' ? '' : ` ${place}`;
}
