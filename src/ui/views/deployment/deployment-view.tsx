import { AnswerList } from './answer-list.tsx';
import { BatchTable } from './batch-table.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { TabPanel } from '../../parts/tab-list.tsx';
import './deployment-view.css';
import { KnobsPanel } from '../../panels/policy/knobs-panel.tsx';
import { QueryForm } from './query-form.tsx';
import { useQueries } from './use-queries.ts';

interface DeploymentViewProps {
  readonly name: string;
  readonly isShown: boolean;
}

/** The query at the left, how it was batched at the right. */
export function DeploymentView({ name, isShown }: DeploymentViewProps) {
  const queries = useQueries(name);
  return (
    <TabPanel id={name} className="workspace deployment-view">
      <div className="rail">
        <QueryForm deployment={name} queries={queries} />
        <KnobsPanel name={name} />
      </div>
      {/* A hidden view keeps only its input; everything else comes from the store. */}
      {isShown && (
        <div className="stage">
          <TimelinePanel deployment={name} onTry={() => queries.send(9)} />
          <div className="stage-lists">
            <AnswerList deployment={name} />
            <BatchTable deployment={name} />
          </div>
        </div>
      )}
    </TabPanel>
  );
}
