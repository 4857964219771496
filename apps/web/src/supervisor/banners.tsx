import { Mark } from '../shared/marks';
import { config } from './agents';
import { connection } from './connection';
import { narrow } from './narrow';
import type { Problem } from './rpc_types';
import { words } from './words';

export function Banners() {
  const w = words.value;
  const said = config.value;
  return (
    <>
      {connection.value === 'lost' && (
        <p class="stale-notice">
          <Mark of="warning" /> {w.stale}
        </p>
      )}
      {said && said.historyProblem !== '' && (
        <div class="banner bad" role="group" aria-label={w.historyProblem}>
          <p>
            <Mark of="warning" /> <strong>{w.historyProblem}</strong> <bdi>{said.historyProblem}</bdi>
          </p>
        </div>
      )}
      {said && said.problems.length > 0 && <Problems title={w.configInvalid} path={said.path} problems={said.problems} bad />}
      {said && said.warnings.length > 0 && <Problems title={w.configWarnings} path={said.path} problems={said.warnings} />}
    </>
  );
}

// As an editor takes it: file:line:column.
function Problems({ title, path, problems, bad = false }: { title: string; path: string; problems: readonly Problem[]; bad?: boolean }) {
  return (
    <details class={bad ? 'banner bad' : 'banner'} open={bad && !narrow.peek()}>
      <summary>
        <Mark of="warning" /> <strong>{title}</strong>
      </summary>
      <ul>
        {problems.map(({ line, column, message }, index) => (
          <li key={index}>
            <code>
              <bdi>{`${path}:${line}:${column}`}</bdi>
            </code>{' '}
            <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}
