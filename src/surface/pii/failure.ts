import { RuntimeError } from '../../errors.ts';

/** Why a request was not answered, in words that cannot hold anything of its text. */
export function explain(error: unknown): string {
  if (error instanceof RuntimeError) return error.message;
  if (error instanceof SyntaxError) return 'stdin is not one JSON object, nor a line of JSON-RPC';
  if (!(error instanceof Error)) return 'the filter itself failed';
  // The message of a foreign error may quote a value; where it came from does not.
  const [place = ''] = error.stack?.match(/^ {4}at .*$/m) ?? [];
  return `the filter itself failed (${error.name}${place.replace(/^ {4}/, ' ')})`;
}
