# Copyright 2026 The ros_ik developers
# SPDX-License-Identifier: Apache-2.0
"""Documents against their subjects: links, files, codes, parameters, the interface."""

from pathlib import Path
import re

import pytest
import yaml

from ros_ik.settings import expand_parameters
from ros_ik.settings import read_settings
from ros_ik.settings import SCHEMA
from ros_ik.settings.reading import unknown_parameters
from tools import interface_documents

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
OTHERS = 'README.md', 'CONTRIBUTING.md', 'examples/README.md'
DOCUMENTS = sorted([*DOCS.rglob('*.md'), *(ROOT / name for name in OTHERS)])
BY_NAME = pytest.mark.parametrize(
    'path', DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
# Others are about the library, whose names look similar.
OF_THE_NODE = (
    'README.md',
    'docs/architecture.md',
    'docs/controllers.md',
    'docs/interface.md',
    'docs/migration.md',
    'docs/safety_notes.md',
    'docs/security.md',
    'docs/troubleshooting.md',
    'docs/tuning.md',
)
_PARAMETERS = {entry.name for entry in SCHEMA}
_SECTIONS = {name.split('.')[0] for name in _PARAMETERS if '.' in name}


def prose(path):
    """Return a document without its blocks of code."""
    return re.sub(r'^```.*?^```', '', path.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(path):
    """Return the anchors of the headings of a document, as GitHub makes them."""
    headings = re.findall(r'^#+ (.*)$', prose(path), flags=re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def quoted(path):
    """Return the texts between backticks in a document."""
    return set(re.findall(r'`([^`\n]+)`', prose(path)))


@BY_NAME
def test_links_lead_somewhere(path):
    for link in re.findall(r'\]\(([^)\s]+)\)', prose(path)):
        if '://' in link:
            continue
        name, _, anchor = link.partition('#')
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@BY_NAME
def test_files_that_are_named_exist(path):
    folders = 'ros_ik|ros_ik_interfaces|test|docs|config|launch|tools|benchmarks|examples'
    for word in quoted(path):
        # Benchmarks write their results when they are run.
        made = word.startswith('benchmarks/results/')
        if re.fullmatch(rf'({folders})/[\w./-]+\.\w+', word) and not made:
            assert (ROOT / word).exists(), word


def words_of_sources():
    """Return every word of the package, its tests and its messages."""
    folders = 'ros_ik', 'ros_ik_interfaces', 'test', 'benchmarks'
    files = (path for folder in folders for path in (ROOT / folder).rglob('*'))
    kinds = {'.py', '.msg', '.srv', '.action'}
    texts = [path.read_text() for path in files if path.suffix in kinds]
    return set(re.findall(r'\w+', '\n'.join([*texts, (ROOT / 'Makefile').read_text()])))


def test_names_of_the_code_exist():
    words = words_of_sources()
    for path in (DOCS / 'architecture.md', *(DOCS / 'how_to_add').glob('*.md')):
        for text in quoted(path):
            # Of a call, the names before its arguments.
            name = re.fullmatch(r'([A-Za-z_][\w.]*)(\(.*\))?', text)
            for word in name[1].split('.') if name else ():
                assert word in words, f'{path.name}: {text}'


@pytest.mark.parametrize('name', OF_THE_NODE)
def test_parameters_that_are_named_exist(name):
    path = ROOT / name
    for word in quoted(path):
        section, dot, _ = word.partition('.')
        if dot and section in _SECTIONS and re.fullmatch(r'[\w.<>]+', word):
            assert word in _PARAMETERS, word


def test_the_tables_of_tuning_name_parameters():
    rows = re.findall(r'^\| [^|]+ \| ([^|]+) \|', prose(DOCS / 'tuning.md'), flags=re.MULTILINE)
    named = [word for row in rows for word in re.findall(r'`([^`]+)`', row)]
    assert len(named) > 40
    assert {word.partition(':')[0] for word in named} <= _PARAMETERS


def flat(values, section=''):
    """Return nested values by dotted name."""
    found = {}
    for key, value in values.items():
        name = f'{section}{key}'
        found |= flat(value, f'{name}.') if isinstance(value, dict) else {name: value}
    return found


def test_the_example_of_two_arms_is_valid():
    text = (ROOT / 'config' / 'dual_arm.yaml').read_text()
    values = flat(yaml.safe_load(text)['/**']['ros__parameters'])
    assert not list(unknown_parameters(values, expand_parameters(values)))
    settings = read_settings(values)
    assert [task.name for task in settings.tasks] == ['left_hand', 'right_hand']
    assert [len(output.joints) for output in settings.outputs] == [7, 7]


def parameter_files():
    """Return the parameter files for the node that documents show, with the name of each."""
    found = []
    for path in DOCUMENTS:
        for block in re.findall(r'^ *```yaml\n(.*?)^ *```', path.read_text(), re.S | re.M):
            values = yaml.safe_load(block)
            if isinstance(values, dict) and '/**' in values:
                found.append((path.name, flat(values['/**']['ros__parameters'])))
    return found


def test_parameter_files_in_documents_are_valid():
    files = parameter_files()
    assert {'README.md', 'migration.md'} <= {name for name, _ in files}
    for name, values in files:
        # A part of a file needs no frame.
        values = {'ee.frame': 'tool0', **values}
        assert not list(unknown_parameters(values, expand_parameters(values))), name
        read_settings(values)


def test_the_migrated_file_does_what_that_of_servo_did():
    (values,) = (values for name, values in parameter_files() if name == 'migration.md')
    settings, default = read_settings(values), read_settings({'ee.frame': 'panda_link8'})
    assert settings.command_in_type == 'unitless'
    # The names and defaults of Servo.
    for scale in ('scale_linear', 'scale_rotational', 'scale_joint'):
        assert getattr(settings, scale) == getattr(default, scale)
    assert settings.outputs[0].publish_velocities and settings.period == 0.01


def status_codes():
    """Return {constant: number} of IkStatus.msg."""
    text = (ROOT / 'ros_ik_interfaces' / 'msg' / 'IkStatus.msg').read_text()
    return {name: int(value) for name, value in re.findall(r'^int8 (\w+)=(-?\d+)', text, re.M)}


def test_each_status_code_has_a_section():
    headings = re.findall(r'^## (\w+) \((-?\d+)\)$', prose(DOCS / 'troubleshooting.md'), re.M)
    assert {name: int(value) for name, value in headings} == status_codes()
    assert len(headings) == len(status_codes())


def test_each_reason_for_a_drop_is_explained():
    from ros_ik.node.transport.message_stats import Drop
    from ros_ik.servo import Rejection

    rows = set(re.findall(r'^\| `(\w+)` \|', prose(DOCS / 'troubleshooting.md'), re.M))
    assert {entry.value for entry in (*Drop, *Rejection)} <= rows


def test_the_readme_leads_to_every_document():
    text = (ROOT / 'README.md').read_text()
    for path in DOCS.glob('*.md'):
        assert f'docs/{path.name}' in text, path.name


def test_the_interface_documents_are_those_of_their_sources():
    pytest.importorskip('rosidl_adapter', reason='reads .msg files; part of every ROS install')
    command = 'make docs'
    assert interface_documents.INTERFACE_FILE.read_text() == (
        interface_documents.interface_text()
    ), command
    assert interface_documents.POLICY_FILE.read_text() == (interface_documents.policy_text()), (
        command
    )


def test_comments_over_several_lines_are_whole_and_introductions_are_left_out(tmp_path):
    pytest.importorskip('rosidl_adapter', reason='reads .msg files; part of every ROS install')
    path = tmp_path / 'Sample.msg'
    path.write_text(
        '# A message.\n\n# These are constants.\nuint8 ONE=1      # the first\n\n'
        'float64 length   # how long,\n                 # where it is long [m]\n'
        'float64 width    # how wide\n'
    )
    section = interface_documents.definition('msg', path)
    assert '| `ONE` | `uint8` | 1 | the first |\n' in section
    assert '| `length` | `float64` | m | how long, where it is long |\n' in section
    assert '| `width` | `float64` |  | how wide |\n' in section


def test_the_table_names_what_exists():
    table = interface_documents.load_table()
    for section in ('subscriptions', 'publishers', 'services', 'actions'):
        for entry in table[section]:
            package, kind, name = entry['type'].split('/')
            assert kind in {'msg', 'srv', 'action'}
            if package == 'ros_ik_interfaces':
                assert (ROOT / package / kind / f'{name}.{kind}').exists()
            if 'qos' in entry:
                assert entry['qos'] in table['qos']


def test_the_picture_of_the_postures_shows_all_eight(tmp_path):
    # It imports Matplotlib, in a third of a second, which every process of the tests would pay.
    from tools import posture_picture

    path = tmp_path / 'postures.png'
    assert posture_picture.draw(path) == 8
    assert path.read_bytes().startswith(b'\x89PNG')
