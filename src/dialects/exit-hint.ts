/** A hint for exit codes 126 and 127 and for CRLF errors in stderr; undefined for everything else. */
export function hintOfExit(exitCode: number | null, stderr: string): string | undefined {
  // What a shell calls by a name that ends in a carriage return, as dash, bash, env and the kernel's loader print it.
  if (exitCode !== 0 && /\r['’"]?: |\\r['’"]|\^M/.test(stderr)) {
    return 'A script in it has Windows line ends (CRLF), which are read as parts of its commands: save it with LF line ends.';
  }
  if (exitCode === 127) {
    return 'A program that it calls was not found. Processes get PATH and the variables that `env` names; its stderr is in the log.';
  }
  if (exitCode === 126) {
    return 'A program that it calls may not be executed: `chmod +x` makes it so. Its stderr is in the log.';
  }
  return undefined;
}
