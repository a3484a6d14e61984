import { test } from 'vitest';
import { runBothWays, workspace } from './command-line.ts';

test.concurrent.for(['provider', 'providers'])(
  '%s list shows the declared providers',
  async (group, { expect }) => {
    const folder = workspace(`
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{text: hi}]}}
  - {id: spare, type: anthropic, model: claude-3}
`);
    const { people, programs } = await runBothWays([group, 'list'], { cwd: folder });
    expect(people).toMatchObject({
      code: 0,
      stdout: 'PROVIDER  TYPE       MODEL\nmain      mock       scripted\nspare     anthropic  claude-3\n',
    });
    expect(programs).toMatchObject({
      code: 0,
      document: {
        providers: [
          { id: 'main', type: 'mock', model: 'scripted' },
          { id: 'spare', type: 'anthropic', model: 'claude-3' },
        ],
      },
    });
  },
);
