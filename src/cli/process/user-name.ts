import { userInfo } from 'node:os';

/** The account name, recorded as the person who decides; the user id, or `unknown`, where there is none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without an account.
    return String(process.getuid?.() ?? 'unknown');
  }
}
