import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { command } from '../command.ts';

export const mcpPinCommand = command('pin <name>', {
  about: 'show what an MCP server of the config sends, and accept it',
  options: {
    '--digest <digest>':
      'accept without a question, if the server still sends the definitions with this digest',
    '--by <name>': 'who accepts (default: your user name)',
  },
  examples: `
Examples:
  signalbox mcp pin files
  signalbox mcp pin files --json | jq -r .digest
  signalbox mcp pin files --digest sha256:5e8c… --by ada

Shows each tool that is new or has changed since a person accepted it, and asks at a terminal whether to accept all of
them. Until then, calls of these tools are denied.

Exit codes: 0 nothing waits or everything was accepted, 1 something waits, the digest is another one or the server
cannot be reached, 2 wrong call or config.

More: docs/operate/pins.md`,
  run: async (context, own, name) => {
    const { invocation, options, terminal, signal } = context;
    const { by = invocation.userName(), digest } = own;
    // What the log warns of is what this command shows.
    const { upstreams } = await context.open(options.config, { logLevel: 'error' });
    const acceptedText = `accepted by ${escapeInvisibleLine(by)}: the definitions of ${name}`;
    if (digest !== undefined)
      return { document: await upstreams.accept(name, { by, digest }), text: acceptedText };
    const report = await upstreams.pins(name);
    const exitCode = report.waits ? 1 : 0;
    if (options.json) return { document: report, exitCode };
    const { pinLines } = await import('../show/pins.ts');
    for (const line of pinLines(report)) await terminal.printNext(line);
    if (!report.waits) {
      terminal.printStderr('nothing waits for a person');
      return 0;
    }
    const { stdin, stderr } = invocation;
    if (stdin.isTTY !== true || stderr.isTTY !== true) {
      terminal.printStderr(
        `hint: accept them at a terminal, or with \`signalbox mcp pin ${name} --digest ${report.digest}\``,
      );
      return 1;
    }
    const { withAnswers } = await import('../prompt.ts');
    const answer = await withAnswers({ invocation, terminal, signal }, (readAnswer) =>
      readAnswer(`Accept these definitions of ${name}? [y]es or [n]o: `),
    );
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return 1;
    const { digest: shown, pinned_digest: pinned } = report;
    return { document: await upstreams.accept(name, { by, digest: shown, pinned }), text: acceptedText };
  },
});
