import { AnswerList } from '../answers/answer-list.tsx';
import { BatchTable } from '../batches/batch-table.tsx';
import { TimelinePanel } from '../batches/timeline-panel.tsx';
import { TabPanel } from '../tab-list.tsx';
import './deployment-view.css';
import { KnobsPanel } from './knobs-panel.tsx';
import { QueryForm } from './query-form.tsx';

interface DeploymentViewProps {
  readonly name: string;
  readonly isShown: boolean;
}

export function DeploymentView({ name, isShown }: DeploymentViewProps) {
  return (
    <TabPanel id={name} className="workspace">
      <div className="rail">
        <QueryForm deployment={name} />
        <KnobsPanel name={name} />
      </div>
      {/* A hidden view keeps its input alone; all else comes from the store. */}
      {isShown && (
        <div className="stage">
          <TimelinePanel deployment={name} />
          <div className="stage-lists">
            <AnswerList deployment={name} />
            <BatchTable deployment={name} />
          </div>
        </div>
      )}
    </TabPanel>
  );
}
