import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { TabPanel } from '../../parts/tab-list.tsx';
import { KnobsPanel } from '../../panels/policy/knobs-panel.tsx';
import { DEPLOYMENTS, titleOf } from '../views.ts';
import { AboutPanel } from './about-panel.tsx';
import { AnswerList } from './answer-list.tsx';
import { BatchTable } from './batch-table.tsx';
import './deployment-view.css';
import { QueryForm } from './query-form.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { useQueries } from './use-queries.ts';
import { useServeView } from '../../state/serve-context.ts';

interface DeploymentsViewProps {
  readonly names: readonly string[];
  /** The address may name one that isn't served. */
  readonly name: string;
  readonly isShown: boolean;
  readonly onChoose: (name: string) => void;
}

/** More of them have no room beside one another. */
const MAX_SEGMENTS = 3;

/** All but the text generator and the encoders, one at a time: the query at the left, how it was batched at the right. */
export function DeploymentsView({ names, name, isShown, onChoose }: DeploymentsViewProps) {
  const queries = useQueries(name);
  const isKnown = names.includes(name);
  const choices = [...names, ...(isKnown ? [] : [name])].map((each) => [each, titleOf(each)] as const);
  return (
    <TabPanel id={DEPLOYMENTS} className="workspace deployment-view">
      <div className="rail stack loose top">
        {names.length > MAX_SEGMENTS || !isKnown ? (
          <Select className="stacked" label="Deployment" value={name} choices={choices} onChange={onChoose} />
        ) : (
          <Segments
            legend="Deployment"
            name="deployment"
            value={name}
            choices={choices}
            onChange={onChoose}
          />
        )}
        {isKnown && (
          <>
            <AboutPanel name={name} input={queries.kind.parse(queries.texts, 1).inputs?.[0]} />
            <QueryForm deployment={name} queries={queries} />
            <KnobsPanel key={name} name={name} />
          </>
        )}
      </div>
      {!isKnown && <UnknownDeployment name={name} />}
      {/* A hidden view keeps only its input; everything else comes from the store. */}
      {isKnown && isShown && (
        <div className="stage stack loose top" key={name}>
          <TimelinePanel deployment={name} onTry={() => queries.send(9)} />
          <div className="stage-lists stack roomy">
            <AnswerList deployment={name} />
            <BatchTable deployment={name} />
          </div>
        </div>
      )}
    </TabPanel>
  );
}

function UnknownDeployment({ name }: { readonly name: string }) {
  const hasAnswered = useServeView(
    ({ status }) => status.deployments.length > 0 || status.state !== 'loading',
  );
  if (!hasAnswered)
    return <p className="unknown-deployment stack tight">Looking for the deployment “{name}”…</p>;
  return (
    <div className="unknown-deployment stack tight" role="alert">
      <p className="error-line">
        The address asks for the deployment “{name}”, which doesn’t exist. <code>UNKNOWN_DEPLOYMENT</code>
      </p>
      <p>
        Choose another one. To serve your own, write it in <code>src/deployments/{name}.ts</code>, and add it
        to the list in <code>registry.ts</code>.
      </p>
    </div>
  );
}
