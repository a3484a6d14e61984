import { userInfo } from 'node:os';

/** Who decides on this command line: the name of the account. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no account has.
    return String(process.getuid?.() ?? 'unknown');
  }
}
