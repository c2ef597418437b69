BEGIN TRANSACTION;
CREATE TABLE changes (count INTEGER NOT NULL);
INSERT INTO "changes" VALUES(2);
CREATE TABLE programs (hash TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);
INSERT INTO "programs" VALUES('6c29ef6a3954c61685cb88d0c29bef1eb86777f3fcc7db5135ee538bd8b590f6','A: 4x4 csr
x: 4 dense
y[i] = A[i,j] * x[j]
');
CREATE TABLE runs (
        key TEXT PRIMARY KEY NOT NULL,
        change INTEGER NOT NULL,
        state TEXT NOT NULL,
        earlier TEXT,
        name TEXT NOT NULL,
        data TEXT NOT NULL,
        machine TEXT NOT NULL,
        cycles INTEGER,
        estimated REAL,
        seconds REAL,
        reason TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        created REAL NOT NULL,
        changed REAL NOT NULL,
        holder TEXT,
        token TEXT,
        size INTEGER NOT NULL,
        program_hash TEXT NOT NULL,
        data_hash TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        engine TEXT NOT NULL,
        numerics TEXT NOT NULL,
        settings TEXT NOT NULL,
        schedule TEXT NOT NULL,
        record TEXT
    );
INSERT INTO "runs" VALUES('22e9114aaee882fa0c2a9f2220b4ad3bd0f66afe99cc68d66e13a8d7a533a2b0',1,'done',NULL,'spmv','random','default',100,90.0,0.25,'',1,1.79539417383282327647e+09,1.7953941738330037594e+09,NULL,NULL,1348,'6c29ef6a3954c61685cb88d0c29bef1eb86777f3fcc7db5135ee538bd8b590f6','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','0123456789abcdef','0.1.0+test','float32','{}','order y: i,j # 0','{"fuseloom": "run", "version": 3, "name": "spmv", "schedule": "order y: i,j # 0", "machine": {"name": "default", "fingerprint": "0123456789abcdef"}, "data": {"label": "random", "origin": "", "standin": false, "options": {}}, "cycles": 100, "flops": 9.0, "bytes": 36.0, "tokens": 40, "regions": [{"name": "y", "order": ["i", "j"], "cycles": 100, "flops": 9.0, "bytes": 36.0, "tokens": 40, "nodes": null, "timeline": null, "memory": null, "path": null, "channels": null}], "check": {"ok": true, "message": "matches the dense reference (largest relative error 0.0e+00)", "max_rel_error": 0.0, "tolerance": 1e-05, "against": "the dense reference", "pattern_equal": true, "shape": null, "expected_shape": null, "share": null, "undetermined": 0, "rows": null, "unchecked": []}, "seconds": 0.25, "repairs": [], "outputs": null}');
INSERT INTO "runs" VALUES('9dbdce26891b0c3398ed242078f80097739cc972f31d4760e906cf7449e728c3',2,'refused',NULL,'spmv','random','default',NULL,90.0,0.01,'j must stay outside i',1,1.79539417383416938776e+09,1.79539417383422851559e+09,NULL,NULL,549,'6c29ef6a3954c61685cb88d0c29bef1eb86777f3fcc7db5135ee538bd8b590f6','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','0123456789abcdef','0.1.0+test','float32','{"capacity": "sized"}','order y: i,j # 5',NULL);
CREATE INDEX runs_by_change ON runs (change);
CREATE INDEX runs_by_time ON runs (changed);
CREATE INDEX runs_by_program ON runs (program_hash);
COMMIT;
