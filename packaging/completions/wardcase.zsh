#compdef wardcase
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
# Made from the table of options by packaging/generate; not to be edited.

_wardcase_policies() {
  local -a names
  names=(${${(f)"$(wardcase policy list 2>/dev/null)"}%% *})
  compadd -a names
  _files
}

_wardcase() {
  local -a verbs
  verbs=(
    'run:run a program in a fresh box'
    'explain:tell what became of a past run, and why'
    'policy:list, show and check policies\: what a run may do'
    'config:show and check what the configuration files say'
    'serve:answer requests for runs by HTTP, on a socket of this host'
    'token:make, list and revoke tokens of the service'\''s clients'
    'session:make, list and end sessions\: boxes that live on, with their interpreters'
    'exec:run a program in a session'
    'repl:type programs for a session, and see their values'
    'logs:tell what happened in a session'
    'kill:end the program that runs in a session, at once'
    'cp:copy a file into a session, or out of it'
    'ls:list the files of a session'
    'cat:print a file of a session'
    'check:look at the syntax of programs, without executing them'
    'languages:tell which languages this host can run, and what the others lack'
    'gc:remove installed requirements and compiled programs that were not used for long'
    'doctor:try each thing that a box needs on this host, and say what to fix'
    'version:tell the version'
    'help:show this, or the options of a verb\: wardcase help run'
  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
    run)
      _arguments -s -S -A '-*' \
        '*'{-l+,--language=}'[language of the program, such as python; else told by the file'\''s suffix]:NAME:(bash c++ c go java javascript lua perl php powershell python r ruby rust typescript)' \
        '*'{-c+,--code=}'[run CODE instead of a file; needs -l]:CODE: ' \
        '*--session=[run it in this session, which is made with the first program]:ID: ' \
        '*--interpreter=[run the program by this interpreter of the host]:PATH:_files' \
        '*--requirement=[install this for the program, as numpy or numpy==1.26; may be repeated]:SPEC: ' \
        '*--requirements=[install what a requirements.txt or package.json lists; may be repeated]:FILE:_files' \
        '*--prelude=[run FILE before the program, in the same interpreter]:FILE:_files' \
        '*'{-e+,--env=}'[set a variable, or copy the caller'\''s; may be repeated]:NAME\[=VALUE\]: ' \
        '*--env-file=[set variables from lines of NAME=VALUE; # begins a comment]:FILE:_files' \
        '*'{-w+,--workdir=}'[directory in the box to start in (default /box)]:DIR:_files' \
        '*--validate[look at the program'\''s syntax, in a box; execute nothing of it]' \
        '*--dry-run=-[show what would run, and how confined; run nothing]::form:(json)' \
        '*'{-v+,--volume=}'[show a host file or directory at DST (read-only unless rw); may be repeated]:SRC\:DST\[\:ro|rw\]:_files' \
        '*--workspace=[show DIR as /box, where the program runs]:DIR\[\:ro|rw\]:_files' \
        '*--network=[network of the program\: its own without a way out, or the host'\''s (default none)]:none|host:(none host)' \
        '*--policy=[hold the program to this policy; see wardcase policy list]:NAME|FILE:_wardcase_policies' \
        '*--allow-syscalls=[let these system calls through, where the policy says that they may be]:NAME,...: ' \
        '*'{-i,--interactive}'[pass our stdin to the program; without it, stdin is empty]' \
        '*'{-t,--tty}'[give the program a terminal of its own, which ours shows; implies -i]' \
        '*--stdin=[what the program reads from its stdin]:FILE:_files' \
        '*--file=[put a copy of the host'\''s file PATH at /box/NAME; may be repeated]:NAME=PATH:_files' \
        '*--timeout=[wall time of the program (default 60s, at most 600s)]:TIME: ' \
        '*--cpu-time=[processor time of all processes together (default\: timeout x cpus)]:TIME: ' \
        '*--idle-timeout=[end a program that writes nothing for so long (at most 600s)]:TIME: ' \
        '*--grace=[time between SIGTERM and SIGKILL (default 2s, at most 30s)]:TIME: ' \
        '*'{-m+,--memory=}'[memory of all processes together (default 1 GiB)]:SIZE: ' \
        '*--pids=[processes and threads at the same time (default 256, at most 4096)]:N: ' \
        '*--cpus=[processors, fractions as in 0.5 (default\: 4, or all where there are fewer)]:N: ' \
        '*--disk=[files in /box, /tmp, the home directory and /dev/shm together (default 256 MiB)]:SIZE: ' \
        '*--file-size=[size of one file (default\: that of the disk)]:SIZE: ' \
        '*--open-files=[open file descriptors of one process (default 4096)]:N: ' \
        '*--capture-limit=[output kept of each stream, half of it the beginning, half the end (default 1 MiB, at most 64 MiB)]:SIZE: ' \
        '*--output-limit=[end a program that writes more to one stream (default\: 256 MiB where output is kept)]:SIZE: ' \
        '*--merge-stderr[send the program'\''s stderr to its stdout, in exact order]' \
        '*--json[print one JSON record at the end instead of the output]' \
        '*--events[print a line of JSON for each event, as it comes]' \
        '*--status-fd=[write the event lines to descriptor N, besides the rest]:N: ' \
        '*--base64[with output bytes in base64 in the record; implies --json]' \
        '*--encoding-fallback=[take lines that are not UTF-8 for text in this encoding, such as gbk]:NAME: ' \
        '*--save-output=[write all of stdout and stderr to DIR/stdout and DIR/stderr, too]:DIR:_files' \
        '*--out=[bring what is new or has changed in /box to DIR, which may be missing]:DIR:_files' \
        '*--meta=[write times, status and exit code to FILE by the keys of isolate]:FILE:_files' \
        '*--timing[tell on stderr what the launch spent its time on]' \
        '*--exit-zero[exit with 0 whenever a record could be made]' \
        '*'{-q,--quiet}'[say nothing ourselves]' \
        '*--verbose[say how the program was confined]' \
        '*--color=[color our own words\: always, never, or auto at a terminal (default auto)]:WHEN:(auto always never)' \
        '*'{-h,--help}'[show this]' \
        '1:program:_files' '*::word:_files'
      ;;
    explain)
      _arguments -s \
        '*--json[print the record of the run]' 
      ;;
    policy)
      _arguments -s \
        '*--resolved[with all that it leaves to others]' \
        '*--origin[with the place of each value]' \
        '1:what:(list show check)' '*:policy:_wardcase_policies'
      ;;
    config)
      _arguments -s \
        '*--origin[with the place of each value]' \
        '1:what:(show check)'
      ;;
    serve)
      _arguments -s \
        '*--listen=[unix\:PATH or tcp\:HOST\:PORT (beyond this host only with --tokens); default\: api.sock in our runtime directory]:ADDRESS: ' \
        '*--tokens=[tokens of clients, as `wardcase token` makes them; who comes by TCP then needs one]:FILE:_files' \
        '*--max-runs=[runs at the same time (default\: twice the processors)]:N: ' \
        '*--max-queue=[runs that wait for their turn; more are refused (default 1024)]:N: ' \
        '*--memory-total=[memory that is promised to all runs and sessions at the same time (default\: no bound)]:SIZE: ' \
        '*--max-sessions=[sessions at the same time (default 64)]:N: ' \
        '*--keep-runs=[ended runs that can still be asked for (default 1000)]:N: ' \
        '*--keep-time=[how long they can be asked for (default 1h)]:TIME: ' \
        '*--max-connections=[clients at the same time (default 512)]:N: ' \
        '*--max-body=[length of a request'\''s body (default 16 MiB)]:SIZE: ' \
        '*--max-held=[of all requests and of all answers that are held (default 256 MiB)]:SIZE: ' \
        '*--header-timeout=[time for a request'\''s head to arrive (default 10s)]:TIME: ' \
        '*--body-timeout=[time for its body to arrive (default 60s)]:TIME: ' \
        '*--idle-timeout=[time between two requests of a client (default 75s)]:TIME: ' \
        '*--send-timeout=[time in which a client takes nothing (default 30s)]:TIME: ' \
        '*--drain-timeout=[time that runs have to end when we are to end (default 45s)]:TIME: ' 
      ;;
    token)
      _arguments -s \
        '*--name=[of the token; what is asked for with it belongs to token\:NAME]:NAME: ' \
        '*--scope=[what it allows; may be given more than once]:SCOPE:(run session admin)' \
        '*--expires=[30d, 12h, or as 2027-01-31T00\:00\:00Z (default\: never)]:TIME: ' \
        '*--file=[the file of tokens]:FILE:_files' \
        '*--json[list as one JSON object]' \
        '1:what:(create list revoke)'
      ;;
    session)
      _arguments -s \
        '*--id=[name of the session, \[A-Za-z0-9._-\]{1,64}; else one is made up]:ID: ' \
        '*'{-l+,--language=}'[language of programs that do not name one (default python)]:NAME:(python javascript bash)' \
        '*--ttl=[how long it lives (default 1h, at most 24h)]:TIME: ' \
        '*--idle-ttl=[how long it lives without being used (default 30m)]:TIME|none: ' \
        '*--json[print JSON]' \
        '*--requirement=[install this for the program, as numpy or numpy==1.26; may be repeated]:SPEC: ' \
        '*--requirements=[install what a requirements.txt or package.json lists; may be repeated]:FILE:_files' \
        '*--prelude=[run FILE before the program, in the same interpreter]:FILE:_files' \
        '*'{-e+,--env=}'[set a variable, or copy the caller'\''s; may be repeated]:NAME\[=VALUE\]: ' \
        '*--env-file=[set variables from lines of NAME=VALUE; # begins a comment]:FILE:_files' \
        '*'{-v+,--volume=}'[show a host file or directory at DST (read-only unless rw); may be repeated]:SRC\:DST\[\:ro|rw\]:_files' \
        '*--network=[network of the program\: its own without a way out, or the host'\''s (default none)]:none|host:(none host)' \
        '*--policy=[hold the program to this policy; see wardcase policy list]:NAME|FILE:_wardcase_policies' \
        '*--allow-syscalls=[let these system calls through, where the policy says that they may be]:NAME,...: ' \
        '*--timeout=[wall time of the program (default 60s, at most 600s)]:TIME: ' \
        '*--cpu-time=[processor time of all processes together (default\: timeout x cpus)]:TIME: ' \
        '*--idle-timeout=[end a program that writes nothing for so long (at most 600s)]:TIME: ' \
        '*--grace=[time between SIGTERM and SIGKILL (default 2s, at most 30s)]:TIME: ' \
        '*'{-m+,--memory=}'[memory of all processes together (default 1 GiB)]:SIZE: ' \
        '*--pids=[processes and threads at the same time (default 256, at most 4096)]:N: ' \
        '*--cpus=[processors, fractions as in 0.5 (default\: 4, or all where there are fewer)]:N: ' \
        '*--disk=[files in /box, /tmp, the home directory and /dev/shm together (default 256 MiB)]:SIZE: ' \
        '*--file-size=[size of one file (default\: that of the disk)]:SIZE: ' \
        '*--open-files=[open file descriptors of one process (default 4096)]:N: ' \
        '*--capture-limit=[output kept of each stream, half of it the beginning, half the end (default 1 MiB, at most 64 MiB)]:SIZE: ' \
        '*--output-limit=[end a program that writes more to one stream (default\: 256 MiB where output is kept)]:SIZE: ' \
        '*--eof[input\: then the end of file]' \
        '*'{-n,--no-newline}'[input\: without a line break after TEXT]' \
        '1:what:(new ls rm extend reset interrupt input)'
      ;;
    exec)
      _arguments -s \
        '*'{-l+,--language=}'[language of the program; else told by the file'\''s suffix, or the session'\''s own]:NAME:(python javascript bash)' \
        '*'{-c+,--code=}'[run CODE instead of a file]:CODE: ' \
        '*'{-i,--interactive}'[pass our stdin to the program; without it, stdin is empty]' \
        '*--file=[put a copy of the host'\''s file PATH at /box/NAME before it begins; may be repeated]:NAME=PATH:_files' \
        '*--validate[look at the program'\''s syntax; execute nothing of it]' \
        '*--requirement=[install this for the session before the program, as numpy or numpy==1.26; may be repeated]:SPEC: ' \
        '*--requirements=[install what a requirements.txt or package.json lists; may be repeated]:FILE:_files' \
        '*--yield=[come back after this time, while the program goes on]:TIME: ' \
        '*--yield-idle=[come back once nothing was printed for this time]:TIME: ' \
        '*--json[print one JSON record at the end instead of the output]' \
        '*--events[print a line of JSON for each event, as it comes]' \
        '*--base64[with output bytes in base64 in the record]' \
        '*--out=[bring what it made or changed in /box to DIR, which may be missing]:DIR:_files' \
        '*'{-q,--quiet}'[say nothing ourselves]' \
        '*--timeout=[wall time of the program]:TIME: ' \
        '*--cpu-time=[processor time of all processes together (default\: timeout x cpus)]:TIME: ' \
        '*--idle-timeout=[end a program that writes nothing for so long]:TIME: ' \
        '*--grace=[time between SIGTERM and SIGKILL]:TIME: ' \
        '*--capture-limit=[output kept of each stream, half of it the beginning, half the end]:SIZE: ' \
        '*--output-limit=[end a program that writes more to one stream (default\: 256 MiB where output is kept)]:SIZE: ' 
      ;;
    repl)
      _arguments -s \
        '*'{-l+,--language=}'[language of what is typed; else the session'\''s own]:NAME:(python javascript bash)' 
      ;;
    logs)
      _arguments -s \
        '*--since=[what came after this number (default 0\: all that is kept)]:SEQ: ' \
        '*'{-f,--follow}'[go on with what comes, until the session ends]' 
      ;;
    kill)
      _arguments -s 
      ;;
    cp)
      _arguments -s 
      ;;
    ls)
      _arguments -s \
        '*'{-l,--long}'[with type and size]' \
        '*--json[print JSON]' 
      ;;
    cat)
      _arguments -s 
      ;;
    check)
      _arguments -s \
        '*'{-l+,--language=}'[language of the program, such as python; else told by the file'\''s suffix]:NAME:(bash c++ c go java javascript lua perl php powershell python r ruby rust typescript)' \
        '*'{-c+,--code=}'[run CODE instead of a file; needs -l]:CODE: ' \
        '*--interpreter=[run the program by this interpreter of the host]:PATH:_files' \
        '*'{-v+,--volume=}'[show a host file or directory at DST (read-only unless rw); may be repeated]:SRC\:DST\[\:ro|rw\]:_files' \
        '*--workspace=[show DIR as /box, where the program runs]:DIR\[\:ro|rw\]:_files' \
        '*--policy=[hold the program to this policy; see wardcase policy list]:NAME|FILE:_wardcase_policies' \
        '*--file=[put a copy of the host'\''s file PATH at /box/NAME; may be repeated]:NAME=PATH:_files' \
        '*--timeout=[wall time of the program (default 60s, at most 600s)]:TIME: ' \
        '*'{-m+,--memory=}'[memory of all processes together (default 1 GiB)]:SIZE: ' \
        '*--pids=[processes and threads at the same time (default 256, at most 4096)]:N: ' \
        '*--json[print one JSON record at the end instead of the output]' \
        '*--exit-zero[exit with 0 whenever a record could be made]' \
        '*'{-q,--quiet}'[say nothing ourselves]' \
        '*--verbose[say how the program was confined]' \
        '*--color=[color our own words\: always, never, or auto at a terminal (default auto)]:WHEN:(auto always never)' 
      ;;
    languages)
      _arguments -s \
        '*--json[print one JSON object instead of lines]' 
      ;;
    gc)
      _arguments -s \
        '*--dry-run[tell what would be removed, and remove nothing]' \
        '*--older-than=[remove what was not used for this long (default 30d)]:AGE: ' \
        '*--keep-size=[remove the longest unused, until no more than this is left]:SIZE: ' \
        '*--json[print one JSON object]' 
      ;;
    doctor)
      _arguments -s \
        '*--json[print one JSON object instead of lines]' \
        '*--color=[color our own words\: always, never, or auto at a terminal (default auto)]:WHEN:(auto always never)' 
      ;;
    version)
      _arguments -s 
      ;;
    help)
      _arguments -s \
        '*--completion=[print the script that completes our words in that shell]:SHELL:(bash zsh fish)' \
        '*--man[print the options of run for wardcase(1), as mdoc(7)]' 
      ;;
  esac
}

_wardcase "$@"
