import { RuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { versionOf } from '../../base/version.ts';
import { command, untilAborted } from '../command.ts';
import { mcpImportCommand, mcpLoginCommand, mcpLogoutCommand } from './mcp-login.ts';
import { mcpPinCommand } from './mcp-pin.ts';

export const mcpCommand = command('mcp', {
  about: 'serve the tools of the config to agents over MCP',
  options: {
    '--http <address>': 'HOST:PORT to serve HTTP at, instead of stdin and stdout; port 0 is any free port',
    '--proxy <server>': [
      'MCP server of the config to pass messages to and from, judged, instead of offering tools; with --http, repeat for more',
      { isMany: true },
    ],
    '--tools <glob>': ['tools to offer, such as `github_*`; repeat for more', { isMany: true }],
  },
  examples: `
Examples:
  claude mcp add signalbox -- signalbox mcp --config /path/to/runtime.yaml
  codex mcp add signalbox -- signalbox mcp --config /path/to/runtime.yaml
  signalbox mcp --tools 'read_*' --tools search
  signalbox mcp --http 127.0.0.1:8788
  claude mcp add files -- signalbox mcp --config /path/to/runtime.yaml --proxy files
  signalbox mcp --http 127.0.0.1:8788 --proxy desk --proxy wiki

An agent starts the command and speaks on its stdin and stdout; the log goes to stderr. It ends when stdin ends.
Needs the package @modelcontextprotocol/server: npm install @modelcontextprotocol/server

More: docs/guides/use-your-tools-in-an-agent.md, docs/guides/guard-mcp-servers.md, docs/reference/mcp.md,
docs/reference/mcp-proxy.md`,
  isServer: true,
  commands: [mcpPinCommand, mcpLoginCommand, mcpLogoutCommand, mcpImportCommand],
  run: async ({ options, terminal, signal, invocation, open }, { http, proxy: servers, tools }) => {
    if (servers !== undefined && tools !== undefined)
      throw new RuntimeError('USAGE', '--proxy cannot be combined with --tools', {
        hint: 'Limit the tools of a server with `tool_filter` in the config.',
      });
    const runtime = await open(options.config, { isService: http !== undefined, hasMetrics: true });
    const { proxyOverHttp, proxyOverStdio, serveOverHttp, serveOverStdio } = await import(
      '../../mcp/serve.ts'
    );
    const report = (line: string) => terminal.printStderr(line);
    const given = { tools, report, version: versionOf() };
    // `spec.mcp.http` is the address of the tools.
    const listen = http ?? (servers === undefined ? runtime.mcp.http : undefined);
    if (listen === undefined) {
      if (options.json)
        throw new RuntimeError(
          'USAGE',
          '--json cannot be combined with stdio, where stdout has the protocol',
          {
            hint: 'Add --http HOST:PORT, or remove --json.',
          },
        );
      const { stdin, stdout, env } = invocation;
      // Claude Code gives its own environment to the servers that it starts.
      const session = env['CLAUDE_CODE_SESSION_ID'];
      if (servers !== undefined) {
        const proxied = await proxyOverStdio(runtime, { servers, report, session, stdin, stdout });
        await Promise.race([proxied.closed, untilAborted(signal)]);
        await proxied.close();
        return 0;
      }
      const served = await serveOverStdio(runtime, { ...given, session, stdin, stdout });
      if (stdin.isTTY)
        terminal.printStderr(
          `Serving ${formatCount(served.tools.length, 'tool')} over MCP. An agent starts this command and speaks on its stdin; see docs/guides/use-your-tools-in-an-agent.md.`,
        );
      await Promise.race([served.closed, untilAborted(signal)]);
      await served.close();
      return 0;
    }
    if (servers !== undefined) {
      const proxied = await proxyOverHttp(runtime, { servers, report, listen });
      if (options.json) terminal.printJson({ urls: proxied.urls });
      else for (const url of proxied.urls) terminal.print(`Passing messages at ${url}`);
      await untilAborted(signal);
      await proxied.close();
      return 0;
    }
    const served = await serveOverHttp(runtime, { ...given, listen });
    const { url } = served;
    if (options.json) terminal.printJson({ url, tools: served.tools });
    else terminal.print(`Serving ${formatCount(served.tools.length, 'tool')} at ${url}`);
    await untilAborted(signal);
    await served.close();
    return 0;
  },
});
