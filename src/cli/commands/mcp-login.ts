import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { command } from '../command.ts';

export const mcpLoginCommand = command('login <name>', {
  about: 'log in at an MCP server of the config, in a browser',
  options: {
    '--scope <scopes>':
      'scopes to ask for, separated by spaces (default: those of the config or of the server)',
  },
  examples: `
Examples:
  signalbox mcp login desk
  signalbox mcp login desk --scope 'tickets:read tickets:write'

For a server with \`auth: {type: login}\`. Prints an address to open in a browser on this machine, and waits 5 minutes for
the answer. The token is kept beside the state, in a file that only you can read.

More: docs/guides/log-in-at-mcp-servers.md`,
  run: async ({ options, terminal, signal, open }, { scope }, name) => {
    const { upstreams } = await open(options.config, { logLevel: 'error' });
    const onUrl = (url: string) =>
      terminal.printStderr(
        `To log in at ${name}, open this address in a browser on this machine:\n\n  ${url}\n`,
      );
    const document = await upstreams.login(name, { onUrl, scope, signal });
    const granted = document.scope === null ? '' : ` with the scopes ${escapeInvisibleLine(document.scope)}`;
    const text = `logged in at ${name}${granted}`;
    return { document, text };
  },
});

export const mcpLogoutCommand = command('logout <name>', {
  about: 'forget the login at an MCP server of the config',
  examples: `
Examples:
  signalbox mcp logout desk
  signalbox mcp logout desk --config agents/runtime.yaml

Removes the token from this machine. The server may accept it until it expires.`,
  run: async ({ options, open }, _own, name) => {
    const { upstreams } = await open(options.config, { logLevel: 'error' });
    const removed = await upstreams.logout(name);
    return {
      document: { server: name, removed },
      text: removed ? `logged out at ${name}` : `there was no login at ${name}`,
    };
  },
});

export const mcpImportCommand = command('import <file>', {
  about: 'add the servers of a .mcp.json to the config',
  options: { '--dry-run': 'show the entries, and write nothing' },
  examples: `
Examples:
  signalbox mcp import .mcp.json --dry-run
  signalbox mcp import ~/work/.mcp.json --config agents/runtime.yaml

Keeps the comments of the config. Secrets that the file contains are not copied: their entries read a variable.

More: docs/guides/log-in-at-mcp-servers.md`,
  run: async ({ options, terminal }, { dryRun: isDry = false }, file) => {
    const { loadServerImporter } = await import('../../runtime/runtime.ts');
    const { importServers } = await loadServerImporter();
    const { config } = options;
    const { servers, notes, yaml } = importServers(file, { config, isDry });
    for (const note of notes) terminal.printStderr(`warning: ${escapeInvisibleLine(note)}`);
    const text = isDry ? yaml.trimEnd() : servers.map((name) => `added ${name}`).join('\n');
    return { document: { config, servers, notes, yaml, written: !isDry }, text };
  },
});
