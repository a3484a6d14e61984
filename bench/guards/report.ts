import { reportInjection } from './injection.ts';
import { reportLinks } from './links.ts';
import { reportSecrets } from './secrets.ts';

/** The tables of docs/reference/guards.md. */
export async function benchGuards(): Promise<string> {
  return [reportInjection(), reportSecrets(), reportLinks()].join('\n\n');
}
