import { reportInjection } from './injection.ts';
import { reportLinks } from './links.ts';
import { reportSecrets } from './secrets.ts';

/** The tables of docs/guides/use-ready-guards.md. */
export async function benchGuards(): Promise<string> {
  return [reportInjection(), reportSecrets(), reportLinks()].join('\n\n');
}
